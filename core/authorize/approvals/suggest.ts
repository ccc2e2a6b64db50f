import { dirname } from "node:path";
import { isWithin } from "../../config/path_order.ts";
import type { Suggestion } from "../../contract/approval.ts";
import type { Decision, PolicyQuestion, TraceStep } from "../../contract/verdict.ts";
import type { ShellScript } from "../../engine/policy.ts";
import { maskText } from "../../store/mask.ts";
import { simpleCommands } from "./bind.ts";
import { prefixesOf } from "./programs.ts";

/** What suggestions are made from. `exact` is there when exactly this call can be saved. */
export type Asked = {
  question: PolicyQuestion;
  decision: Decision;
  script: ShellScript | undefined;
  command: string | undefined;
  exact: boolean;
  /** The decision with these allow rules beside those in force. */
  tryRules: (rules: readonly string[]) => Promise<Decision>;
};

/** The most levels from narrow to broad. */
const MOST_LEVELS = 3;

/**
 * What could be saved of a yes, from narrow to broad: exactly this call, then rules, one for each part that asks. A rule is only
 * offered where it would have allowed this very call, and where a person can read what it holds for.
 */
export async function suggestionsFor(asked: Asked): Promise<Suggestion[]> {
  const { command, question } = asked;
  const what = command ?? question.tool;
  const exact = { rule: "exact", rules: [], shows: `exactly this call, in ${question.cwd}: ${what}` };
  const found: Suggestion[] = asked.exact ? [exact] : [];
  const parts = asked.decision.trace.filter(({ verdict }) => verdict === "ask").map((step) => rulesFor(step, asked));
  if (parts.length === 0 || parts.some((rules) => rules.length === 0)) return found;
  const levels = Math.min(MOST_LEVELS, Math.max(...parts.map((rules) => rules.length)));
  for (let level = 0; level < levels; level++) {
    const rules = [...new Set(parts.map((all) => all[Math.min(level, all.length - 1)] ?? ""))];
    const rule = rules.join(", ");
    if (found.some((known) => known.rule === rule)) continue;
    if ((await asked.tryRules(rules)).verdict === "allow")
      found.push({ rule, rules, shows: `every call that fits ${rule}` });
  }
  return found;
}

function rulesFor(step: TraceStep, asked: Asked): string[] {
  // What is not understood, and what a rule or a limit asks about, no allow rule opens.
  if (step.by !== "mode") return [];
  const rules = asked.script ? commandRules(step, asked.script, asked) : pathRules(step.part, asked);
  return rules.filter((rule) => maskText(rule) === rule);
}

function commandRules(step: TraceStep, script: ShellScript, asked: Asked): string[] {
  const { span } = step;
  if (!span) return [];
  const at = ([start, end]: readonly [number, number]) => start === span[0] && end === span[1];
  const commands = simpleCommands(script);
  const target = commands.flatMap(({ redirects }) => redirects).find((redirect) => at(redirect.span))?.target.text;
  if (target !== undefined) return pathRules(absoluteOf(target, asked.question.cwd), { ...asked, writes: true });
  const simple = commands.find((one) => at(one.span));
  // A word that is not known before it runs is no plain word.
  const words = simple?.words.map(({ text }) => text ?? "") ?? [];
  const prefixes = prefixesOf(words);
  const whole = words.every(isPlainWord) && prefixes.length > 0 ? [`Bash(${words.join(" ")})`] : [];
  return [...whole, ...prefixes.map((prefix) => `Bash(${prefix.join(" ")} *)`)];
}

function absoluteOf(path: string, cwd: string): string {
  return path.startsWith("/") ? path : `${cwd}/${path.replace(/^\.\//, "")}`;
}

/** This file, then its folder, unless that is the workspace, the home or anything above. */
function pathRules(path: string, { question, writes }: Asked & { writes?: boolean }): string[] {
  const effect = question.effects.find((one) => "path" in one && one.path === path);
  const kind = writes || (effect && effect.kind !== "read") ? "Edit" : "Read";
  if (!path.startsWith("/") || !isPlainPath(path)) return [];
  const folder = dirname(path);
  const roots = [question.cwd, question.home, ...question.roots];
  const wide = roots.some((root) => isWithin(root, folder)) || folder.split("/").length < 3;
  return [`${kind}(/${path})`, ...(wide ? [] : [`${kind}(/${folder}/**)`])];
}

/** A word that means the same in a rule: no quotes, blanks or wildcards. */
function isPlainWord(word: string): boolean {
  return /^[\w@%+=:,./-]+$/.test(word);
}

function isPlainPath(path: string): boolean {
  return /^[\w@%+=,./ -]+$/.test(path) && !path.split("/").includes("..");
}
