import { effectsOf } from "../authorize/effects.ts";
import { resolvePath } from "../config/resolve_path.ts";
import { parseMode } from "../config/world.ts";
import { ToolFault } from "../contract/fault.ts";
import type { ModeSetting } from "../contract/request.ts";
import type { Decision, PolicyQuestion, RuleLists } from "../contract/verdict.ts";
import { type CheckLine, idOf, readCheckLine } from "./check_line.ts";
import type { CompiledPolicy } from "../engine/policy.ts";
import type { RuleSets } from "./rule_sets.ts";

/** What holds where a question says nothing of its own. `builtIn` rules hold under any others. Folders are real. */
export type CheckBasis = {
  builtIn: RuleLists;
  rules: RuleLists;
  mode: ModeSetting;
  cwd: string;
  home: string;
  roots: readonly string[];
};

/** The mode of a question that brings rules of its own. */
const OWN_RULES_MODE: ModeSetting = { mode: "workspace-write", origin: "the default" };

/** One answer line. A line that can't be used has `error` too, and is never an "allow". */
export type CheckAnswer = {
  id?: string | number;
  decision: Decision["verdict"];
  reason: string;
  trace: Decision["trace"];
  error?: { code: string; message: string; line?: number; details?: unknown };
};

/**
 * One line that was judged. `context` is what all lines share that say the same beside their command: the set of rules, and
 * the question about some command. It does not last where it rests on what a path led to.
 */
export type JudgedLine = {
  answer: CheckAnswer;
  context?: { policy: CompiledPolicy; question: PolicyQuestion; lasting: boolean };
};

/** Answers one line of `policy check --stdin`; never throws for what stands in it. */
export async function judgeLine(text: string, basis: CheckBasis, sets: RuleSets): Promise<JudgedLine> {
  let line: CheckLine;
  try {
    line = readCheckLine(text);
  } catch (error) {
    return { answer: errorAnswer(error, idOf(text)) };
  }
  const id = line.id === undefined ? {} : { id: line.id };
  try {
    const { judge, policy } = await sets.setFor(line.rules ?? basis.rules, basis.builtIn);
    const question = questionOf(line, basis);
    const { verdict, reason, trace } = judge(question);
    const answer = { ...id, decision: verdict, reason, trace };
    if (line.subject.kind !== "command") return { answer };
    return { answer, context: { policy, question, lasting: line.cwd === undefined && line.roots === undefined } };
  } catch (error) {
    return { answer: errorAnswer(error, line.id) };
  }
}

/** The answer to a line that can't be used. Rethrows what no input can cause. */
export function errorAnswer(error: unknown, id?: string | number): CheckAnswer {
  if (!(error instanceof ToolFault)) throw error;
  const { code, message, details } = error;
  return {
    ...(id === undefined ? {} : { id }),
    decision: "deny",
    reason: message,
    trace: [],
    error: { code, message, ...(details === undefined ? {} : { details }) },
  };
}

/** Judges one question, as a call of a model would be judged. `explain` fills the dear fields of the trace. */
export async function decideLine(
  line: CheckLine,
  basis: CheckBasis,
  sets: RuleSets,
  explain?: "explain",
): Promise<Decision> {
  const judge = await sets.judgeFor(line.rules ?? basis.rules, basis.builtIn);
  const question = questionOf(line, basis);
  return judge(explain ? { ...question, explain: true } : question);
}

/** The question that a line stands for. Throws the resolver's ToolFaults, and `config.invalid` for a mode. */
export function questionOf(line: CheckLine, basis: CheckBasis): PolicyQuestion {
  const { subject } = line;
  const cwd = line.cwd === undefined ? basis.cwd : resolvePath(line.cwd, basis.cwd, basis.home).real;
  const resolve = (path: string) => resolvePath(path, cwd, basis.home);
  const given = line.roots?.map((root) => resolve(root).real);
  const roots = given ?? (line.cwd === undefined ? [...basis.roots] : [cwd]);
  const inherited = line.rules === undefined ? basis.mode : OWN_RULES_MODE;
  const { mode, asks } = line.mode === undefined ? inherited : parseMode(line.mode, '"mode"');
  const common = { mode, cwd, home: basis.home, roots, ...(asks === undefined ? {} : { asks }) };
  if (subject.kind === "command") {
    const { command } = subject;
    const effects = [{ kind: "exec", command } as const];
    return { tool: "bash", required: "danger-full-access", effects, params: { command }, ...common };
  }
  if (subject.kind === "call")
    return { tool: subject.tool, required: "danger-full-access", effects: [], params: subject.params, ...common };
  const { op, path } = subject;
  const effects = effectsOf([{ kind: op === "read" ? "fs.read" : "fs.write", path }], resolve);
  const judged = effects.map((effect) => ("path" in effect ? { ...effect, kind: op } : effect));
  const [tool, required] =
    op === "read" ? (["read_file", "read-only"] as const) : (["write_file", "workspace-write"] as const);
  return { tool, required, effects: judged, params: { path }, ...common };
}
