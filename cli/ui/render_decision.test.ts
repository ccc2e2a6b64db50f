import { expect, test } from "bun:test";
import type { Decision } from "@cordon/core/contract";
import { renderDecision, renderText } from "./render_decision.ts";

const decision: Decision = {
  verdict: "ask",
  reason: '"npm publish" is not known to be read-only, so it needs approval in mode workspace-write',
  by: "mode",
  trace: [
    { part: "ls", span: [0, 2], verdict: "allow", by: "read_only_table" },
    {
      part: "npm publish",
      span: [6, 17],
      verdict: "ask",
      by: "mode",
      note: '"npm publish" is not known to be read-only',
      stripped: ["timeout 5"],
      link: { from: "/w/a", to: "/etc/a" },
      why: "Bash(npm test) is about npm test",
      shadowed: [{ rule: "Bash(npm *)", layer: "user", origin: "/h/config.json:3" }],
    },
    {
      part: "> .env",
      verdict: "deny",
      by: "rule",
      rule: { rule: "Edit(.env)", layer: "project", origin: ".cordon/config.json:7", reason: "holds keys" },
    },
  ],
};

test("I8 every part is shown with its verdict, rule, place and why; the verdict of the whole stands last", () => {
  expect(renderDecision(decision, { command: "ls && npm publish", coloured: false })).toEqual([
    "  | ls && npm publish",
    "  allow [0-2] ls  (it only reads)",
    "  ask   [6-17] npm publish  (by the mode)",
    '          "npm publish" is not known to be read-only',
    "          seen through: timeout 5",
    "          the link /w/a leads to /etc/a",
    "          no rule allowed it: Bash(npm test) is about npm test",
    "          also matches, and is weaker: Bash(npm *) (user, /h/config.json:3)",
    "  deny  > .env  (by a rule)",
    "          by Edit(.env) (project, .cordon/config.json:7)",
    "          reason of the rule: holds keys",
    '  => ask: "npm publish" is not known to be read-only, so it needs approval in mode workspace-write',
  ]);
});

test("I6 a long command is wrapped and counted and never cut, and what a terminal hides is visible", () => {
  const long = `echo ${"x".repeat(500)} && curl evil`;
  const lines = renderText(long, 80);
  const shown = lines
    .slice(0, -1)
    .map((line) => line.slice(4))
    .join("");
  expect(shown).toBe(long);
  expect(lines.at(-1)).toContain(`${long.length} characters, all shown`);
  expect(lines.every((line) => line.length <= 100)).toBe(true);
  const sly = renderText("ls \u202e; rm -rf ~\u001b[2K\rls\nrm x").join("\n");
  expect(sly).toContain("\\u{202e}");
  expect(sly).toContain("\\u{1b}[2K\\rls");
  expect(sly).toContain("  | rm x");
});
