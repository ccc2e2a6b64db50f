/** The three answers of the policy; `deny` beats `ask`, `ask` beats `allow`. */
export type Verdict = "allow" | "ask" | "deny";

/** The permission mode of a session, in the seed's order (A7). */
export type Mode = "read-only" | "workspace-write" | "danger-full-access" | "prompt" | "allow";

/** The permission a tool needs when nothing more is known of the call (A1). */
export type RequiredPermission = "read-only" | "workspace-write" | "danger-full-access";

/**
 * Something a call would do. Paths are absolute; `command` is the text given to the shell. `link` is the name by which a path
 * was reached, where a symlink led from there to `path`. `env` sets a variable that other programs obey; `privilege` takes the
 * rights of another user.
 */
export type Effect =
  | { kind: "exec"; command: string }
  | { kind: "read" | "write" | "delete"; path: string; link?: string }
  | { kind: "net"; host: string; port?: number }
  | { kind: "env"; name: string }
  | { kind: "privilege"; what: string }
  | { kind: "unknown"; what: string };

/**
 * A rule with where it stands. `origin` is `file:line` or the name of a flag; shown in every explanation. `layer` is one of
 * built-in, user, project, local, flag, grant, managed, weakest first.
 */
export type RuleSource = {
  rule: string;
  layer: string;
  origin: string;
  /** Rules that carve out: what one of them surely covers is left to other rules. On `deny` and `ask` only. */
  except?: string[];
  /** Examples that the rule must match, checked when the set is compiled: a command, a path or a host, as the rule's kind is. */
  match?: string[];
  /** Examples that it must not match. */
  notMatch?: string[];
  /** The author's sentence on why, shown wherever the rule decides. */
  reason?: string;
};

/** The rules in force; lists of all layers added up, built-in first. */
export type RuleLists = { allow: RuleSource[]; ask: RuleSource[]; deny: RuleSource[] };

/** No rule at all. Lists that rules are added to are made anew. */
export const NO_RULES: RuleLists = { allow: [], ask: [], deny: [] };

/** A rule that can't be used, found when the set is compiled. */
export type RuleFault = { rule: string; origin: string; why: string };

/**
 * The question put to the policy component. `params` are the call's scalar parameters, for `Tool(param:value)` rules. `asks`
 * "deny" turns what would ask into a no (preset dont-ask). `explain` fills the dear fields of the trace: `shadowed`, `why`,
 * `stripped` and `effects`.
 */
export type PolicyQuestion = {
  tool: string;
  required: RequiredPermission;
  mode: Mode;
  effects: Effect[];
  params: Record<string, string>;
  cwd: string;
  home: string;
  roots: string[];
  asks?: "person" | "deny";
  explain?: boolean;
};

/**
 * One judged part of a call. `span` counts UTF-8 bytes in the command, end exclusive. `stripped` are the wrappers and prefixes
 * seen through, outermost first. `link` says which symlink led to what was judged. `shadowed` are the rules that match too and
 * are weaker. `why` says what kept the nearest allow rule from matching. `effects` is what the part was understood to do.
 */
export type TraceStep = {
  part: string;
  span?: [number, number];
  verdict: Verdict | "none";
  by: "rule" | "read_only_table" | "mode" | "boundary" | "not_understood";
  rule?: RuleSource;
  note?: string;
  stripped?: string[];
  link?: { from: string; to: string };
  shadowed?: RuleSource[];
  why?: string;
  effects?: Effect[];
};

/** The policy's answer. `reason` is one sentence for a person or a model; `trace` is the whole derivation. */
export type Decision = { verdict: Verdict; reason: string; by: TraceStep["by"]; rule?: RuleSource; trace: TraceStep[] };
