import { ToolFault } from "../contract/fault.ts";
import type { RuleLists, RuleSource } from "../contract/verdict.ts";

/** What is asked about: a shell command, a path that is read, written or deleted, or (not in lines) a call of any other tool. */
export type CheckSubject =
  | { kind: "command"; command: string }
  | { kind: "path"; op: "read" | "write" | "delete"; path: string }
  | { kind: "call"; tool: string; params: Record<string, string> };

/**
 * One question of `cordon policy check`. What is not given is the configuration's. `rules` replace all configured ones; the built-in
 * ones stay.
 */
export type CheckLine = {
  id?: string | number;
  subject: CheckSubject;
  rules?: RuleLists;
  cwd?: string;
  roots?: string[];
  mode?: string;
};

const LISTS = ["allow", "ask", "deny"] as const;
const OPERATIONS = ["read", "write", "delete"] as const;
const RULE_KEYS: readonly string[] = ["rule", "except", "match", "notMatch", "reason"];

/** Reads one line of JSON. Keys that it does not know are let pass: corpora carry labels. Throws ToolFault `serve.bad_json` or `serve.bad_message`. */
export function readCheckLine(text: string): CheckLine {
  const fields = objectOf(parse(text), "The line");
  const id = fields["id"] ?? undefined;
  if (id !== undefined && typeof id !== "string" && typeof id !== "number")
    throw bad("id", id, "a text or a number is wanted");
  const rules = fields["rules"] ?? undefined;
  const cwd = optionalText(fields, "cwd");
  const mode = optionalText(fields, "mode");
  const roots = fields["roots"] ?? undefined;
  return {
    ...(id === undefined ? {} : { id }),
    subject: subjectOf(fields),
    ...(rules === undefined ? {} : { rules: rulesOf(rules) }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(mode === undefined ? {} : { mode }),
    ...(roots === undefined ? {} : { roots: textsOf(roots, "roots") }),
  };
}

/** The id of a line that can't be used, where it has one, so that its error can be told from others. */
export function idOf(text: string): string | number | undefined {
  try {
    const id = objectOf(parse(text), "The line")["id"];
    return typeof id === "string" || typeof id === "number" ? id : undefined;
  } catch {
    return undefined;
  }
}

function subjectOf(fields: Fields): CheckSubject {
  const { command, op, path } = fields;
  if (command !== undefined) {
    if (op !== undefined) throw bad("op", op, "a line has a command or an op, not both");
    if (typeof command !== "string") throw bad("command", command, "a text is wanted");
    return { kind: "command", command };
  }
  if (op === undefined) throw bad("command", undefined, 'a line has "command", or "op" with "path"');
  const known = OPERATIONS.find((name) => name === op);
  if (known === undefined) throw bad("op", op, `one of ${OPERATIONS.join(", ")} is wanted`);
  if (typeof path !== "string") throw bad("path", path, "a text is wanted");
  return { kind: "path", op: known, path };
}

function rulesOf(value: unknown): RuleLists {
  const fields = objectOf(value, '"rules"');
  const stray = Object.keys(fields).find((key) => !LISTS.some((list) => list === key));
  if (stray !== undefined) throw bad(`rules.${stray}`, fields[stray], "the lists are allow, ask and deny");
  const [allow, ask, deny] = LISTS.map((list) => {
    const entries = fields[list] ?? [];
    if (!Array.isArray(entries)) throw bad(`rules.${list}`, entries, "a list of rules is wanted");
    return entries.map((entry: unknown, at) => ruleOf(entry, `rules.${list}[${at}]`));
  });
  return { allow: allow ?? [], ask: ask ?? [], deny: deny ?? [] };
}

function ruleOf(entry: unknown, origin: string): RuleSource {
  if (typeof entry === "string") return { rule: entry, layer: "flag", origin };
  const fields = objectOf(entry, origin);
  const stray = Object.keys(fields).find((key) => !RULE_KEYS.includes(key));
  if (stray !== undefined) throw bad(`${origin}.${stray}`, fields[stray], `a rule has ${RULE_KEYS.join(", ")}`);
  const { rule, reason } = fields;
  if (typeof rule !== "string") throw bad(`${origin}.rule`, rule, "a text is wanted");
  const lists = ["except", "match", "notMatch"].flatMap((key) =>
    fields[key] === undefined ? [] : [[key, textsOf(fields[key], `${origin}.${key}`)] as const],
  );
  return {
    rule,
    layer: "flag",
    origin,
    ...Object.fromEntries(lists),
    ...(typeof reason === "string" ? { reason } : {}),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ToolFault({
      code: "serve.bad_json",
      message: `The line is not JSON: ${error instanceof Error ? error.message : String(error)}`,
    });
  }
}

function objectOf(value: unknown, what: string): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new ToolFault({
    code: "serve.bad_message",
    message: `${what} is ${JSON.stringify(value)?.slice(0, 100)}, and an object is wanted`,
    hint: `for example {"command":"ls","rules":{"allow":["Bash(ls *)"]}}`,
  });
}

function optionalText(fields: Fields, key: string): string | undefined {
  const value = fields[key] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw bad(key, value, "a text is wanted");
}

function textsOf(value: unknown, key: string): string[] {
  if (!Array.isArray(value)) throw bad(key, value, "a list of texts is wanted");
  return value.map((item: unknown, at) => {
    if (typeof item !== "string") throw bad(`${key}[${at}]`, item, "a text is wanted");
    return item;
  });
}

function bad(key: string, found: unknown, wanted: string): ToolFault {
  const shown = found === undefined ? "is missing" : `is ${JSON.stringify(found)?.slice(0, 100)}`;
  return new ToolFault({ code: "serve.bad_message", message: `"${key}" ${shown}: ${wanted}` });
}
