import { suggestionsFor } from "../authorize/approvals/suggest.ts";
import { addRules } from "../config/builtin_rules.ts";
import type { Decision, PolicyQuestion, RuleLists, RuleSource } from "../contract/verdict.ts";
import { parseShell } from "../engine/policy.ts";
import { type Asked, askedOf, whatOf } from "./replay.ts";
import type { JudgeNow, RuleSets } from "./rule_sets.ts";

/**
 * Allow rules that would have saved questions. `saves` are the calls of the log that asked and would not have; `admits` are others
 * of the log that they would let through now. Whatever else fits the rules, they admit too.
 */
export type RuleProposal = { rules: readonly string[]; saves: string[]; admits: string[] };

/** What was found: `asked` calls needed an answer; of `silent` ones the log says nothing. */
export type Proposed = { asked: number; silent: number; proposals: RuleProposal[] };

/** What is looked at: the log and the rules in force. */
export type SuggestParts = { log: string; builtIn: RuleLists; rules: RuleLists; sets: RuleSets };

/** The most different questions that are weighed, the newest first. */
const MOST_ASKED = 500;

/**
 * Goes through the questions of the log and proposes the smallest rules that would have saved them, those that save most first. A rule
 * that would let a call through which a person refused, or which is denied, is not proposed; nor is one for interpreters, shells or wrappers.
 */
export async function suggestRules(parts: SuggestParts): Promise<Proposed> {
  const { asked, silent } = askedOf(parts.log);
  const judge = await judgeWith(parts, []);
  const open = asked.filter(({ question }) => judge(question).verdict === "ask");
  const refused = new Set(asked.filter(isRefused));
  const wanted = latestOfEach(open.filter((one) => !refused.has(one)));
  const candidates = await candidatesFor(wanted, judge, parts);
  const weighed: Weighed[] = [];
  for (const rules of candidates) {
    const tried = await judgeWith(parts, rules);
    const opened = asked.filter(
      ({ question }) => tried(question).verdict === "allow" && judge(question).verdict !== "allow",
    );
    if (opened.length > 0 && !opened.some((one) => refused.has(one))) weighed.push({ rules, opened });
  }
  return { asked: open.length, silent, proposals: cover(weighed) };
}

type Weighed = { rules: readonly string[]; opened: Asked[] };

async function judgeWith({ builtIn, rules, sets }: SuggestParts, allow: readonly string[]): Promise<JudgeNow> {
  const more = allow.map((rule): RuleSource => ({ rule, layer: "flag", origin: "proposal" }));
  return sets.judgeFor(addRules(rules, { allow: more, ask: [], deny: [] }), builtIn);
}

function isRefused({ entry }: Asked): boolean {
  return entry.ended?.code === "policy.refused_by_person" || entry.ended?.verdict === "deny";
}

/** One of each call, the newest first. */
function latestOfEach(asked: readonly Asked[]): Asked[] {
  const last = new Map(asked.map((one) => [whatOf(one.question), one]));
  return [...last.values()].reverse().slice(0, MOST_ASKED);
}

/** The rules that a prompt would offer for each call, narrow ones first. */
async function candidatesFor(
  wanted: readonly Asked[],
  judge: JudgeNow,
  parts: SuggestParts,
): Promise<(readonly string[])[]> {
  const found = new Map<string, readonly string[]>();
  for (const { question } of wanted) {
    const decision = judge(question);
    for (const { rule, rules } of await suggestionsFor(await askedAbout(question, decision, parts))) {
      if (rules.length > 0 && !found.has(rule)) found.set(rule, rules);
    }
  }
  return [...found.values()];
}

async function askedAbout(question: PolicyQuestion, decision: Decision, parts: SuggestParts) {
  const [first] = question.effects;
  const command = first?.kind === "exec" ? first.command : undefined;
  const parsed = command === undefined ? undefined : await parseShell(command);
  return {
    question,
    decision,
    command,
    script: parsed?.ok ? parsed.script : undefined,
    exact: false,
    tryRules: async (rules: readonly string[]) => (await judgeWith(parts, rules))(question),
  };
}

/** Takes the proposal that saves most of what is left, of equals the one that lets the least through, until nothing is left. */
function cover(weighed: readonly Weighed[]): RuleProposal[] {
  const left = [...weighed];
  const saved = new Set<Asked>();
  const proposals: RuleProposal[] = [];
  const gain = ({ opened }: Weighed) =>
    opened.filter((one) => one.entry.ended?.verdict === "ask" && !saved.has(one)).length;
  for (;;) {
    left.sort((a, b) => gain(b) - gain(a) || a.opened.length - b.opened.length || length(a) - length(b));
    const best = left.shift();
    if (best === undefined || gain(best) === 0) return proposals;
    const saves = best.opened.filter(({ entry }) => entry.ended?.verdict === "ask");
    const admits = best.opened.filter((one) => !saves.includes(one));
    proposals.push({ rules: best.rules, saves: saves.map(said), admits: admits.map(said) });
    for (const one of saves) saved.add(one);
  }
}

/** Of rules that do the same the one with more words holds for less. */
function length({ rules }: Weighed): number {
  return -rules.join(" ").length;
}

function said({ question }: Asked): string {
  return whatOf(question);
}
