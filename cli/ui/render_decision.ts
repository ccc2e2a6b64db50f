import type { Decision, RuleSource, TraceStep } from "@cordon/core/contract";
import { paint } from "./messages.ts";
import { visibleLines, visibleText } from "./visible_text.ts";

/** What stands beside a decision. `command` is the text that spans of the trace count in. `width` is in columns. */
export type DecisionView = { command?: string; coloured: boolean; width?: number };

const DEFAULT_WIDTH = 100;
const COLOURS: Readonly<Record<TraceStep["verdict"], string>> = { allow: "32", ask: "33", deny: "31", none: "2" };

/**
 * A decision for people, one line each without line ends: the whole command, then every part with its verdict and why. Nothing
 * is left out: long text is wrapped and counted, and what a terminal would obey or hide is made visible.
 */
export function renderDecision(decision: Decision, view: DecisionView): string[] {
  const command = view.command === undefined ? [] : renderText(view.command, view.width);
  const verdict = colour(decision.verdict, decision.verdict, view);
  return [
    ...command,
    ...decision.trace.flatMap((step) => renderStep(step, view)),
    `  => ${verdict}: ${visibleText(decision.reason)}`,
  ];
}

/** Text whole, behind a margin: wrapped at the width of the terminal, with its size where that does not show at a glance. */
export function renderText(text: string, width = DEFAULT_WIDTH): string[] {
  const room = Math.max(20, width - 4);
  const lines = visibleLines(text).split("\n");
  const wrapped = lines.flatMap((line) => wrap(line, room).map((part, at) => `${at === 0 ? "  | " : "  : "}${part}`));
  const size = `  (${lines.length} ${lines.length === 1 ? "line" : "lines"}, ${[...text].length} characters, all shown; ":" goes on with the line above)`;
  return wrapped.length > 1 ? [...wrapped, size] : wrapped;
}

function wrap(line: string, room: number): string[] {
  const letters = [...line];
  const parts = Array.from({ length: Math.ceil(letters.length / room) }, (_, at) =>
    letters.slice(at * room, (at + 1) * room).join(""),
  );
  return parts.length === 0 ? [""] : parts;
}

function renderStep(step: TraceStep, view: DecisionView): string[] {
  const verdict = colour(step.verdict.padEnd(5), step.verdict, view);
  const details = [
    ...(step.rule ? [`${ruleVerb(step)} ${renderRule(step.rule)}`] : []),
    ...(step.rule?.reason ? [`reason of the rule: ${step.rule.reason}`] : []),
    ...(step.note ? [step.note] : []),
    ...(step.stripped?.length ? [`seen through: ${step.stripped.join(", ")}`] : []),
    ...(step.link ? [`the link ${step.link.from} leads to ${step.link.to}`] : []),
    ...(step.effects?.length ? [`does: ${step.effects.map(renderEffect).join(", ")}`] : []),
    ...(step.why ? [`no rule allowed it: ${step.why}`] : []),
    ...(step.shadowed ?? []).map((rule) => `also matches, and is weaker: ${renderRule(rule)}`),
  ];
  return [
    `  ${verdict} ${wherePart(step)}${visibleText(step.part)}  (${BY[step.by]})`,
    ...details.map((line) => `          ${visibleText(line)}`),
  ];
}

const BY: Readonly<Record<TraceStep["by"], string>> = {
  rule: "by a rule",
  read_only_table: "it only reads",
  mode: "by the mode",
  boundary: "a limit that nothing lifts",
  not_understood: "not understood",
};

function ruleVerb({ by }: TraceStep): string {
  return by === "rule" ? "by" : "could be meant by";
}

/** A rule with where it stands. */
function renderRule({ rule, layer, origin }: RuleSource): string {
  return layer === origin ? `${rule} (${layer})` : `${rule} (${layer}, ${origin})`;
}

function renderEffect(effect: NonNullable<TraceStep["effects"]>[number]): string {
  const [subject = ""] = Object.entries(effect).flatMap(([key, value]) => (key === "kind" ? [] : [String(value)]));
  return `${effect.kind} ${subject}`.trim();
}

function wherePart({ span }: TraceStep): string {
  return span && span[1] > span[0] ? `[${span[0]}-${span[1]}] ` : "";
}

function colour(text: string, verdict: TraceStep["verdict"], { coloured }: DecisionView): string {
  return coloured ? paint(COLOURS[verdict], text) : text;
}
