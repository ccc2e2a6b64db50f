import { createInterface } from "node:readline";
import type { Asker, PermissionAnswer, PermissionQuestion } from "@cordon/core/contract";
import type { Cli } from "../command.ts";
import { paint, usesColour } from "./messages.ts";
import { visibleLines, visibleText } from "./visible_text.ts";
import { writeFully } from "./write_fully.ts";

const ANSWERS: Readonly<Record<string, PermissionAnswer["choice"]>> = {
  o: "once",
  once: "once",
  y: "once",
  s: "session",
  session: "session",
  d: "deny",
  deny: "deny",
  n: "deny",
};

/** Asks at the terminal: the question on stderr, the answer from stdin. Everything that is not a clear yes is a no. */
export function createPersonAsker(cli: Cli): Asker {
  return {
    canAsk: () => true,
    ask: async (question, signal) => {
      writeFully(2, renderQuestion(question, usesColour(cli, 2)));
      return readAnswer(signal);
    },
  };
}

/** The question with the whole input; what a terminal would hide or obey is made visible. */
export function renderQuestion({ tool, title, input, decision }: PermissionQuestion, coloured: boolean): string {
  const head = coloured ? paint("33", "cordon asks") : "cordon asks";
  const text = visibleLines(JSON.stringify(input, null, 2) ?? "nothing");
  return `${head}: may ${visibleText(tool)} do this? ${visibleText(title)}\n  because ${visibleText(decision.reason)}\n${text.replace(/^/gm, "  | ")}\n[o]nce, for this [s]ession, or [d]eny? `;
}

async function readAnswer(signal: AbortSignal): Promise<PermissionAnswer> {
  const lines = createInterface({ input: process.stdin });
  try {
    const line = await new Promise<string | null>((resolve) => {
      lines.once("line", resolve);
      lines.once("close", () => resolve(null));
      signal.addEventListener("abort", () => resolve(null), { once: true });
      if (signal.aborted) resolve(null);
    });
    // Without an answer the cursor still stands behind the question.
    if (line === null) writeFully(2, "\n");
    const choice = line === null ? undefined : ANSWERS[line.trim().toLowerCase()];
    return choice === undefined ? { choice: "deny", reason: "no clear answer" } : { choice };
  } finally {
    lines.close();
  }
}
