import { expect, test } from "bun:test";
import type { PermissionQuestion } from "@cordon/core/contract";
import { parseAnswer, renderQuestion } from "./ask_person.ts";

const question: PermissionQuestion = {
  id: "1",
  tool: "bash",
  title: "Tidy up\u202e",
  input: {},
  command: `npm publish \u001b[2K ${"x".repeat(300)}`,
  decision: {
    verdict: "ask",
    reason: "it asks",
    by: "mode",
    trace: [{ part: "npm publish", verdict: "ask", by: "mode" }],
  },
  choices: ["once", "session", "always", "deny"],
  suggestions: [
    { rule: "exact", rules: [], shows: "exactly this call" },
    { rule: "Bash(npm publish *)", rules: ["Bash(npm publish *)"], shows: "every call that fits Bash(npm publish *)" },
  ],
};

test("I6 the question shows the whole command, what hides visible, each part and what each answer saves", () => {
  const shown = renderQuestion(question, { coloured: false, width: 80 });
  expect(shown).not.toMatch(/[\u001b\u202e]/);
  expect(shown.match(/x+/g)?.join("").length).toBeGreaterThanOrEqual(300);
  for (const part of [
    "\\u{1b}[2K",
    "characters, all shown",
    "ask   npm publish",
    "1  exactly",
    "2  every call",
    "[o]nce",
    "[d]eny",
  ])
    expect(shown).toContain(part);
  const narrow = renderQuestion({ ...question, choices: ["once", "deny"], suggestions: [] }, { coloured: false });
  expect(narrow).not.toContain("[a]lways");
});

test("I6 only a clear yes is a yes, with the terms that were typed", () => {
  const said = (line: string) => parseAnswer(line, question);
  expect(said("o")).toEqual({ choice: "once" });
  expect(said("S")).toEqual({ choice: "session" });
  expect(said("a 2 for 30m uses 10")).toEqual({
    choice: "always",
    rule: "Bash(npm publish *)",
    forMs: 1_800_000,
    uses: 10,
  });
  expect(said("always user")).toEqual({ choice: "always", scope: "user" });
  expect(said("d not today")).toEqual({ choice: "deny", reason: "not today" });
  for (const unclear of ["", "maybe", "a 3", "a 0", "a for", "a for ever", "o 1", "yes please", "a uses -1", "s user"])
    expect([unclear, said(unclear).choice]).toEqual([unclear, "deny"]);
});
