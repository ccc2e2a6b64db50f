import { createInterface } from "node:readline";
import { answerFault, type Asker, type PermissionAnswer, type PermissionQuestion } from "@cordon/core/contract";
import type { Cli } from "../command.ts";
import { parseCount, parseDuration } from "../flag_values.ts";
import { paint, usesColour } from "./messages.ts";
import { renderDecision, renderText } from "./render_decision.ts";
import { visibleText } from "./visible_text.ts";
import { writeFully } from "./write_fully.ts";

/** Asks at the terminal: the question on stderr, the answer from stdin. Everything that is not a clear yes is a no. */
export function createPersonAsker(cli: Cli): Asker {
  return {
    canAsk: () => true,
    ask: async (question, signal) => {
      const columns = Number(process.stderr.columns);
      const view = { coloured: usesColour(cli, 2), ...(columns > 0 ? { width: columns } : {}) };
      writeFully(2, renderQuestion(question, view));
      return readAnswer(question, signal);
    },
  };
}

type View = { coloured: boolean; width?: number };

/** The question: the whole command or input, each part's verdict and why, and what each answer would save. Nothing is cut. */
export function renderQuestion(question: PermissionQuestion, view: View): string {
  const { tool, title, input, command, decision, escalation, changed } = question;
  const head = view.coloured ? paint("33", "cordon asks") : "cordon asks";
  const text = command ?? JSON.stringify(input, null, 2) ?? "nothing";
  return [
    `${head}: may ${visibleText(tool)} do this? ${visibleText(title)}`,
    ...(command === undefined ? renderText(text, view.width) : []),
    ...renderDecision(decision, { ...view, ...(command === undefined ? {} : { command }) }),
    ...(changed === undefined ? [] : [`  approved before, but this has changed since: ${visibleText(changed)}`]),
    ...(escalation ? renderEscalation(escalation) : []),
    ...renderChoices(question),
    "> ",
  ].join("\n");
}

function renderEscalation({ lifts, justification }: NonNullable<PermissionQuestion["escalation"]>): string[] {
  return [
    "  it asks for more than the sandbox gives, for this one call:",
    ...lifts.map((lift) => `    ${visibleText(lift)}`),
    ...(justification === "" ? [] : ["  its reason:", ...renderText(justification)]),
  ];
}

function renderChoices({ choices, suggestions }: PermissionQuestion): string[] {
  const saved = suggestions.map(({ shows }, at) => `    ${at + 1}  ${visibleText(shows)}`);
  return [
    "  [o]nce    this call",
    ...(choices.includes("session")
      ? ["  [s]ession until cordon ends, [a]lways in this project (add `user` for every project):"]
      : []),
    ...saved,
    ...(saved.length > 0 ? ["            for example: a, or s 2, or a 1 for 30m uses 10"] : []),
    "  [d]eny    with a reason, if you like",
  ];
}

const WORDS: Readonly<Record<string, PermissionAnswer["choice"]>> = {
  o: "once",
  once: "once",
  y: "once",
  yes: "once",
  s: "session",
  session: "session",
  a: "always",
  always: "always",
  d: "deny",
  deny: "deny",
  n: "deny",
  no: "deny",
};

/** What a typed line means: "a 2 for 30m uses 10", "d not on my machine". Anything that is no clear yes is a no. */
export function parseAnswer(line: string, question: PermissionQuestion): PermissionAnswer {
  const [first = "", ...rest] = line.trim().split(/\s+/);
  const word = first.toLowerCase();
  const choice = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (choice === "deny") return { choice, ...(rest.length > 0 ? { reason: rest.join(" ") } : {}) };
  const answer = choice && withTerms({ choice }, rest, question);
  return answer && answerFault(answer, question) === undefined ? answer : { choice: "deny", reason: "no clear answer" };
}

function withTerms(
  answer: PermissionAnswer,
  words: string[],
  { suggestions }: PermissionQuestion,
): PermissionAnswer | undefined {
  const terms = { ...answer };
  try {
    for (let word = words.shift(); word !== undefined; word = words.shift()) {
      const chosen = suggestions[Number(word) - 1];
      if (chosen) terms.rule = chosen.rule;
      else if (word === "user" || word === "project") terms.scope = word;
      else if (word === "for") terms.forMs = parseDuration("for", words.shift() ?? "");
      else if (word === "uses") terms.uses = parseCount("uses", words.shift() ?? "");
      else return undefined;
    }
    return terms;
  } catch {
    return undefined; // no time or count
  }
}

async function readAnswer(question: PermissionQuestion, signal: AbortSignal): Promise<PermissionAnswer> {
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
    return line === null ? { choice: "deny", reason: "no clear answer" } : parseAnswer(line, question);
  } finally {
    lines.close();
  }
}
