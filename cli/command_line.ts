import { type ArgsDef, defineCommand, runCommand, type SubCommandsDef } from "citty";
import { nearestNames } from "@cordon/core";
import type { Cli } from "./command.ts";
import { COMMANDS, type LoadedCommand } from "./commands.ts";
import { EXIT } from "./exit_codes.ts";
import { emptyRulesDraft, foldersOf, readFlags, RULE_FLAGS, usageFault } from "./flags.ts";
import { writeAnswer, writeFully } from "./ui/write_fully.ts";
import { VERSION } from "./version.ts";

/** Runs the command that `args` name; resolves to the exit code. Throws ToolFault `usage`. */
export async function runCommandLine(args: readonly string[], cli: Cli): Promise<number> {
  if (args.length === 0) {
    writeFully(2, shortHelp());
    return EXIT.usage;
  }
  const { name, rest } = splitCommand(args, cli);
  if (name === "help") return print(shortHelp());
  if (name === "version") return print(`cordon ${VERSION}\n`);
  if (!Object.hasOwn(COMMANDS, name)) {
    const near = nearestNames(name, Object.keys(COMMANDS));
    throw usageFault(
      `There is no command ${JSON.stringify(name)}`,
      near.length > 0 ? `did you mean ${near.join(" or ")}?` : `commands: ${Object.keys(COMMANDS).join(", ")}`,
    );
  }
  let code: number = EXIT.toolError;
  const subCommands: SubCommandsDef = Object.fromEntries(
    Object.entries(COMMANDS).map(([key, entry]) => [
      key,
      async () =>
        toCitty(await entry.load(), cli, (ended) => {
          code = ended;
        }),
    ]),
  );
  await runCommand(defineCommand({ meta: { name: "cordon", version: VERSION }, subCommands }), {
    rawArgs: [name, ...rest],
  });
  return code;
}

/** Global flags may stand before the command; they are handed to it. The first word is the command's name. */
function splitCommand(args: readonly string[], cli: Cli): { name: string; rest: string[] } {
  const draft = { ...emptyRulesDraft(), version: false };
  const table = {
    ...RULE_FLAGS,
    version: {
      takes: "nothing" as const,
      short: "V",
      help: "",
      apply: (d: typeof draft) => {
        d.version = true;
      },
    },
  };
  const words = readFlags(args, draft, {
    table,
    words: "command",
    folders: foldersOf(cli),
  });
  if (draft.version) return { name: "version", rest: [] };
  const [name, ...rest] = words;
  if (name === "help" && rest[0] !== undefined) return { name: rest[0], rest: ["--help"] };
  if (name === undefined && !draft.help)
    throw usageFault("No command was given", `commands: ${Object.keys(COMMANDS).join(", ")}`);
  return { name: name ?? "help", rest: [...args.slice(0, args.length - words.length), ...rest] };
}

/**
 * The citty command of one record. citty's parser lets unknown flags pass and keeps only the last of repeated ones, so it
 * chooses the command and describes the flags; the values are read from the raw words by the flag table.
 */
function toCitty(command: LoadedCommand, cli: Cli, ended: (code: number) => void) {
  const args: ArgsDef = Object.fromEntries(
    Object.entries(command.flags).map(([name, spec]) => [
      name,
      { type: spec.takes === "nothing" ? "boolean" : "string", description: spec.help },
    ]),
  );
  return defineCommand({
    meta: { name: command.name },
    args,
    run: async ({ rawArgs }) => ended(await command.run(rawArgs, cli)),
  });
}

function print(text: string): number {
  writeAnswer(text);
  return EXIT.ok;
}

function shortHelp(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const commands = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `cordon ${VERSION}: runs the tool calls and shell commands of AI agents behind a permission policy and a kernel sandbox

Usage: cordon COMMAND [flags]

Commands:
${commands.join("\n")}

Start with: cordon tour
Examples:
  cordon run -- npm test
  cordon call bash '{"command":"ls"}'
Help for one command: cordon COMMAND --help
`;
}
