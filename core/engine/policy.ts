/**
 * The door to the policy component: bash syntax and permission rules. The module is compiled at the first call and not
 * before, because validating it costs milliseconds that most commands never need.
 */
import type { Decision, PolicyQuestion, RuleFault, RuleLists } from "../contract/verdict.ts";
import { loadPolicyComponent, type PolicyComponent } from "./load.ts";
import { PolicyDoor } from "./policy_door.ts";

export type { PolicyDoor };

/** Start and end (exclusive) in UTF-8 bytes of the source. */
export type ShellSpan = [number, number];

/** Why the value of a word is not known before it runs. */
export type ShellDynamic =
  | "parameter"
  | "command"
  | "process"
  | "arithmetic"
  | "glob"
  | "brace"
  | "tilde"
  | "array"
  | "bytes";

/** A word after quote removal: `text` where its value is certain, else `dynamic` says why it is not. */
export type ShellWord = { span: ShellSpan; text?: string; dynamic?: ShellDynamic[]; subs?: ShellSubstitution[] };

/** A script inside a word. */
export type ShellSubstitution = { span: ShellSpan; kind: "$(" | "`" | "<(" | ">("; body: ShellItem[] };

/** `name=value`, or `name=(…)` with one value an element. `subscript.text` is source, with its brackets. */
export type ShellAssignment = {
  span: ShellSpan;
  name: string;
  append: boolean;
  subscript?: ShellWord;
  values: ShellWord[];
  array: boolean;
};

/** A redirection; `here_doc` is an index into `ShellScript.here_docs`. */
export type ShellRedirect = { span: ShellSpan; op: string; fd?: string; target: ShellWord; here_doc?: number };

/** One command of a sequence; `background` if `&` ends it. */
export type ShellItem = { node: ShellNode; background: boolean };

/** A command. `cond` is `[[ … ]]`, `arith` is `(( … ))`; neither has bodies. */
export type ShellNode =
  | {
      type: "simple";
      span: ShellSpan;
      assignments: ShellAssignment[];
      words: ShellWord[];
      redirects: ShellRedirect[];
    }
  | { type: "pipeline"; span: ShellSpan; negated: boolean; timed: boolean; stages: ShellNode[] }
  | { type: "and_or"; span: ShellSpan; ops: ("&&" | "||")[]; nodes: ShellNode[] }
  | {
      type:
        | "subshell"
        | "group"
        | "if"
        | "while"
        | "until"
        | "for"
        | "for_arith"
        | "select"
        | "case"
        | "function"
        | "cond"
        | "arith"
        | "coproc";
      span: ShellSpan;
      name?: string;
      words: ShellWord[];
      bodies: ShellItem[][];
      redirects: ShellRedirect[];
    };

/** The body of a here-doc; `text` where it is certain. */
export type ShellHereDoc = { span: ShellSpan; quoted: boolean; text?: string; subs?: ShellSubstitution[] };

/** A parsed source. `facts` say what was seen anywhere in it that runs text found in the values of variables. */
export type ShellScript = {
  items: ShellItem[];
  here_docs: ShellHereDoc[];
  facts: { arithmetic: boolean; quoted_code: boolean; prompt_expansion: boolean };
};

/** Why a source was refused: shell.too_long, shell.too_deep, shell.nul, shell.unclosed, shell.unexpected, shell.unsupported. */
export type ShellFault = { code: string; message: string; span: ShellSpan };

/** A parse that worked, or why it did not. */
export type ShellParsed = { ok: true; script: ShellScript } | { ok: false; fault: ShellFault };

/** Compiled rules. `set` is the component's number for them. */
export type CompiledPolicy = { readonly set: number };

/** Rules that work, or every one that does not. */
export type PolicyCompiled = { ok: true; policy: CompiledPolicy } | { ok: false; faults: RuleFault[] };

/** Parses bash, up to 1,048,576 bytes and 200 levels. Never throws on bad syntax: that is a `fault`. */
export async function parseShell(source: string): Promise<ShellParsed> {
  const { shell } = (await loadPolicyComponent()).policy;
  try {
    // The component's own serializer made this from the Rust types that ShellScript mirrors.
    return { ok: true, script: JSON.parse(shell.parse(source)) as ShellScript };
  } catch (error) {
    const fault = asShellFault(error);
    if (fault === undefined) throw error;
    return { ok: false, fault };
  }
}

/**
 * Compiles rules. One rule that can't be used refuses the whole set, so that no `deny` is lost in silence. The rules of the set
 * `under` come before those of each list, and cost nothing again.
 */
export async function compilePolicy(lists: RuleLists, under?: CompiledPolicy): Promise<PolicyCompiled> {
  const { rules } = (await loadPolicyComponent()).policy;
  try {
    return { ok: true, policy: { set: rules.compile(JSON.stringify(lists), under?.set) } };
  } catch (error) {
    if (typeof error !== "string") throw error;
    // The error of `compile` is the JSON of RuleFault[], as policy.wit says.
    return { ok: false, faults: JSON.parse(error) as RuleFault[] };
  }
}

/**
 * Rules that never change, for others to be compiled over. The component has those of its build compiled already (wasm/parts); any others it
 * compiles as ever.
 */
export async function compileFixed(lists: RuleLists): Promise<PolicyCompiled> {
  const kept = keptRules((await loadPolicyComponent()).policy, lists);
  return kept === undefined ? compilePolicy(lists) : { ok: true, policy: { set: kept } };
}

/** Compiles rules into the memory of an instance, to be found there under their digest. Throws what `compile` of policy.wit throws. */
export function keepRules({ rules }: PolicyComponent, lists: RuleLists): void {
  const text = JSON.stringify(lists);
  rules.keep(digestOf(text), text);
}

/** The number of a set of rules that an instance has kept; undefined if it was given no such rules. */
export function keptRules({ rules }: PolicyComponent, lists: RuleLists): number | undefined {
  return rules.kept(digestOf(JSON.stringify(lists)));
}

function digestOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** Judges one call. Never throws on a bad question or a released policy: the verdict is `deny` then. */
export async function decide(policy: CompiledPolicy, question: PolicyQuestion): Promise<Decision> {
  return (await decider(policy))(question);
}

/** The same without waiting, for a caller that judges thousands of paths in a row. */
export async function decider(policy: CompiledPolicy): Promise<(question: PolicyQuestion) => Decision> {
  const open = await policyDoor();
  return (question) => open.decide(policy.set, question);
}

let door: Promise<PolicyDoor> | undefined;

/** The door to the one instance of the component, by which all questions go. */
export function policyDoor(): Promise<PolicyDoor> {
  door ??= loadPolicyComponent().then((loaded) => new PolicyDoor(loaded));
  return door;
}

/** Frees compiled rules; a later `decide` with them denies. */
export async function releasePolicy(policy: CompiledPolicy): Promise<void> {
  const { rules } = (await loadPolicyComponent()).policy;
  rules.release(policy.set);
}

/** jco throws the error of a WIT result as it is: a string or a record, and no Error. */
function asShellFault(error: unknown): ShellFault | undefined {
  if (typeof error !== "object" || error === null || !("code" in error && "start" in error)) return undefined;
  // The record `parse-error` of policy.wit, lifted by jco.
  const { code, message, start, end } = error as { code: string; message: string; start: number; end: number };
  return { code, message, span: [start, end] };
}
