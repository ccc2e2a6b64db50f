/** The three answers of the policy; `deny` beats `ask`, `ask` beats `allow`. */
export type Verdict = "allow" | "ask" | "deny";

/** The permission mode of a session, in the seed's order (A7). */
export type Mode = "read-only" | "workspace-write" | "danger-full-access" | "prompt" | "allow";

/** The permission a tool needs when nothing more is known of the call (A1). */
export type RequiredPermission = "read-only" | "workspace-write" | "danger-full-access";

/** Something a call would do. Paths are absolute; `command` is the text given to the shell. */
export type Effect =
  | { kind: "exec"; command: string }
  | { kind: "read" | "write" | "delete"; path: string }
  | { kind: "net"; host: string; port?: number }
  | { kind: "unknown"; what: string };

/** A rule with where it stands. `origin` is `file:line` or the name of a flag; shown in every explanation. */
export type RuleSource = { rule: string; layer: string; origin: string };

/** The rules in force; lists of all layers added up, built-in first. */
export type RuleLists = { allow: RuleSource[]; ask: RuleSource[]; deny: RuleSource[] };

/** A rule that can't be used, found when the set is compiled. */
export type RuleFault = { rule: string; origin: string; why: string };

/** The question put to the policy component. `params` are the call's scalar parameters, for `Tool(param:value)` rules. */
export type PolicyQuestion = {
  tool: string;
  required: RequiredPermission;
  mode: Mode;
  effects: Effect[];
  params: Record<string, string>;
  cwd: string;
  home: string;
  roots: string[];
};

/** One judged part of a call. `span` counts UTF-8 bytes in the command, end exclusive. */
export type TraceStep = {
  part: string;
  span?: [number, number];
  verdict: Verdict | "none";
  by: "rule" | "read_only_table" | "mode" | "boundary" | "not_understood";
  rule?: RuleSource;
  note?: string;
};

/** The policy's answer. `reason` is one sentence for a person or a model; `trace` is the whole derivation. */
export type Decision = { verdict: Verdict; reason: string; by: TraceStep["by"]; rule?: RuleSource; trace: TraceStep[] };
