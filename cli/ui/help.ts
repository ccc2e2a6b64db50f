import type { FlagTable } from "../flags.ts";
import { EXIT } from "../exit_codes.ts";
import { writeAnswer } from "./write_fully.ts";
import type { Command } from "../command.ts";

/** The help of one command, made from its record. Ends in a newline. */
export function renderHelp<Draft>(command: Command<Draft>, notes: readonly string[] = []): string {
  const sections = [
    `${command.summary}\n\nUsage: ${command.usage}`,
    ...(command.details ? [command.details] : []),
    `Flags:\n${renderFlags(command.flags)}`,
    ...notes,
    `Examples:\n${command.examples.map(([line, what]) => `  ${line}\n      ${what}`).join("\n")}`,
  ];
  return `${sections.join("\n\n")}\n`;
}

/** Prints the help of one command on stdout; returns the exit code. `notes` go before the examples. */
export function printHelp<Draft>(command: Command<Draft>, notes: readonly string[] = []): number {
  writeAnswer(renderHelp(command, notes));
  return EXIT.ok;
}

function renderFlags<Draft>(flags: FlagTable<Draft>): string {
  const rows = Object.entries(flags).flatMap(([name, spec]) => {
    if (spec.hidden) return [];
    const hint = spec.hint ?? "VALUE";
    const value = { nothing: "", optional: `[=${hint}]`, value: ` ${hint}` }[spec.takes];
    return [[`${spec.short ? `-${spec.short}, ` : ""}--${name}${value}`, spec.help] as const];
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
