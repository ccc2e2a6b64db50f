// consola/core, not consola: in a compiled executable the former adds 0.2 ms to the start, the latter 17 ms.
import { createConsola } from "consola/core";
import type { Cli } from "../command.ts";
import { visibleLines } from "./visible_text.ts";
import { writeFully } from "./write_fully.ts";

/** A failure as people are told it. */
export type Shown = { code: string; message: string; hint?: string };

/** Messages for people: one `cordon: …` each on stderr, coloured on a terminal unless NO_COLOR is set. */
export function createMessages(cli: Cli): ReturnType<typeof createConsola> {
  const coloured = usesColour(cli, 2);
  return createConsola({
    level: 4,
    // Two alike in a row are two events; consola would hold the second back.
    throttle: 0,
    reporters: [
      {
        log: ({ type, args }) => {
          const text = visibleLines(args.map(String).join(" "));
          const name = coloured ? paint(type === "error" ? "31" : "36", "cordon") : "cordon";
          writeFully(2, `${name}: ${text}\n`);
        },
      },
    ],
  });
}

/** Tells a person what went wrong and what to do next. */
export function showError(cli: Cli, { code, message, hint }: Shown): void {
  createMessages(cli).error(`${code}: ${message}${hint ? `\n  hint: ${hint}` : ""}`);
}

/** Whether text for people on this descriptor may have colours. */
export function usesColour(cli: Cli, fd: 1 | 2): boolean {
  return cli.isTty(fd) && !cli.world.env["NO_COLOR"] && cli.world.env["TERM"] !== "dumb";
}

/** `text` in an SGR colour. */
export function paint(sgr: string, text: string): string {
  return `\u001b[${sgr}m${text}\u001b[0m`;
}
