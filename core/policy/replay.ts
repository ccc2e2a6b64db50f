import { type AuditEntry, entriesOf, readStoredLog } from "../audit/mod.ts";
import { ownedFileSync } from "../config/look.ts";
import type { Content } from "../config/settings/content.ts";
import { ToolFault } from "../contract/fault.ts";
import type { PolicyQuestion, RuleLists, Verdict } from "../contract/verdict.ts";
import type { RuleSets } from "./rule_sets.ts";

/** A past call that would be decided otherwise. `seq` is its opening row. */
export type Change = {
  id: string;
  seq: number;
  at: number;
  tool: string;
  what: string;
  from: Verdict;
  to: Verdict;
  reason: string;
};

/** What a replay found. `silent` calls have no question in the log, so nothing can be said of them. */
export type Replayed = { calls: number; silent: number; same: number; changes: Change[] };

const SIZE_LIMIT = 1 << 20;

/** Reads a settings file as the one policy to be tried. Throws ToolFault `config.invalid` with the place. */
export async function readPolicyFile(path: string): Promise<Content> {
  const [{ parseLocated, invalid }, { readCordonFile }] = await Promise.all([
    import("../config/settings/located.ts"),
    import("../config/settings/read_settings.ts"),
  ]);
  try {
    const found = ownedFileSync(path, SIZE_LIMIT);
    if (found === "other" || found === "large") throw invalid(`${path}:1:1`, "it is no file of settings", "name one");
    const text = new TextDecoder("utf-8", { fatal: true }).decode(found.bytes);
    return readCordonFile(await parseLocated(path, text), "managed");
  } catch (error) {
    if (error instanceof ToolFault) throw error;
    throw invalid(
      `${path}:1:1`,
      `it can't be read: ${error instanceof Error ? error.message : String(error)}`,
      "name a settings file",
    );
  }
}

/** What the calls of a log were asked of: rows have questions where `"audit": {"commands": true}` was set. */
export type Asked = { entry: AuditEntry; question: PolicyQuestion };

/** The calls of a log that have their question, and the number of those that do not. The person's own commands are no questions. */
export function askedOf(log: string): { asked: Asked[]; silent: number } {
  const entries = entriesOf(readStoredLog(log)).filter(
    ({ door, ended }) => door !== "run" && ended?.verdict !== undefined,
  );
  const asked = entries.flatMap((entry) => {
    const question = entry.ended?.question;
    return isQuestion(question) ? [{ entry, question }] : [];
  });
  return { asked, silent: entries.length - asked.length };
}

type Tried = { builtIn: RuleLists; policy: Pick<Content, "rules" | "mode">; sets: RuleSets };

/** Decides every call of a log again by another policy: its rules under the built-in ones, and its mode where it names one. */
export async function replayLog(log: string, { builtIn, policy, sets }: Tried): Promise<Replayed> {
  const judge = await sets.judgeFor(policy.rules, builtIn);
  const { asked, silent } = askedOf(log);
  const changes = asked.flatMap(({ entry, question }): Change[] => {
    const { mode = question.mode, asks } = policy.mode ?? {};
    const decision = judge({ ...question, mode, ...(asks === undefined ? {} : { asks }) });
    const from = verdictOf(entry);
    if (from === undefined || decision.verdict === from) return [];
    const { id, seq, at, tool } = entry;
    return [{ id, seq, at, tool, what: whatOf(question), from, to: decision.verdict, reason: decision.reason }];
  });
  return { calls: asked.length + silent, silent, same: asked.length - changes.length, changes };
}

/** The call in a few words. */
export function whatOf({ effects, tool }: PolicyQuestion): string {
  const [first] = effects;
  if (first?.kind === "exec") return first.command;
  return first && "path" in first ? `${first.kind} ${first.path}` : tool;
}

function verdictOf({ ended }: AuditEntry): Verdict | undefined {
  return (["allow", "ask", "deny"] as const).find((verdict) => verdict === ended?.verdict);
}

function isQuestion(value: unknown): value is PolicyQuestion {
  if (typeof value !== "object" || value === null) return false;
  const fields: Partial<Record<string, unknown>> = { ...value };
  const texts = [fields["tool"], fields["mode"], fields["cwd"], fields["home"]];
  return (
    texts.every((text) => typeof text === "string") &&
    Array.isArray(fields["effects"]) &&
    Array.isArray(fields["roots"])
  );
}
