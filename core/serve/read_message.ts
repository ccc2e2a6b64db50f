import { PERMISSION_CHOICES, type PermissionAnswer } from "../contract/asking.ts";
import { nearestNames } from "../config/nearest_names.ts";
import type { ProtocolError } from "./server_line.ts";

/** A call as a client sends it. */
export type CallMessage = { id: string; tool: string; input: unknown; timeoutMs?: number; stream: boolean };

/** Everything a client can say. */
export type ClientMessage =
  | { type: "call"; call: CallMessage }
  | { type: "permission"; id: string; answer: PermissionAnswer }
  | { type: "cancel"; id: string }
  | { type: "hello"; answers: boolean }
  | { type: "ping" };

/** What a line turned out to be. `id` is there when the line had a usable one. */
export type ReadResult = { ok: true; message: ClientMessage } | { ok: false; id?: string; error: ProtocolError };

type Fields = Record<string, unknown>;
type Check = (value: unknown) => string | null;
type Shape = Readonly<Record<string, { check: Check; presence: "required" | "optional" }>>;

const LONGEST_ID = 256;
const LONGEST_TIMEOUT_MS = 2_147_483_647;
const SCOPES = ["session", "project", "user"] as const;
const MOST_USES = 1_000_000;
const LONGEST_GRANT_MS = 10 * 365 * 86_400_000;
const required = (check: Check) => ({ check, presence: "required" as const });
const optional = (check: Check) => ({ check, presence: "optional" as const });
const anything: Check = () => null;
const aBoolean: Check = (value) => (typeof value === "boolean" ? null : "true or false");
const aText: Check = (value) => (typeof value === "string" && value !== "" ? null : "a text that is not empty");
const anId: Check = (value) => (isId(value) ? null : `a text of 1 to ${LONGEST_ID} characters`);
const aTimeout: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 1 && Number(value) <= LONGEST_TIMEOUT_MS
    ? null
    : "a whole number of milliseconds above 0";
const aScope: Check = (value) => (SCOPES.some((scope) => scope === value) ? null : `one of ${SCOPES.join(", ")}`);
const aCount: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MOST_USES ? null : "a whole number above 0";
const aLifetime: Check = (value) =>
  Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= LONGEST_GRANT_MS
    ? null
    : "a whole number of milliseconds above 0, at most ten years";
const aChoice: Check = (value) =>
  PERMISSION_CHOICES.some((choice) => choice === value) ? null : `one of ${PERMISSION_CHOICES.join(", ")}`;

const CALL: Shape = {
  id: required(anId),
  tool: required(aText),
  input: required(anything),
  timeoutMs: optional(aTimeout),
  stream: optional(aBoolean),
};
const TYPED: Readonly<Record<string, Shape>> = {
  permission: {
    id: required(anId),
    choice: required(aChoice),
    reason: optional(aText),
    rule: optional(aText),
    scope: optional(aScope),
    forMs: optional(aLifetime),
    uses: optional(aCount),
  },
  cancel: { id: required(anId) },
  hello: { answers: required(aBoolean) },
  ping: {},
};

/** Reads one line. Never throws; a line that is no message comes back with what was found and what is wanted. */
export function readMessage(line: string): ReadResult {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    const message = `The line is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    return {
      ok: false,
      error: { code: "serve.bad_json", message, hint: "send one JSON object a line, without line breaks in it" },
    };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return bad(
      {},
      `The line is JSON but ${describe(value)}, and an object is wanted`,
      'for example {"id":"1","tool":"bash","input":{"command":"ls"}}',
    );
  }
  return readFields({ ...value });
}

function readFields(fields: Fields): ReadResult {
  const type = fields["type"];
  if (!Object.hasOwn(fields, "type"))
    return check(fields, CALL, "a call") ?? { ok: true, message: { type: "call", call: toCall(fields) } };
  const shape = typeof type === "string" && Object.hasOwn(TYPED, type) ? TYPED[type] : undefined;
  if (!shape) {
    const near = typeof type === "string" ? nearestNames(type, Object.keys(TYPED)) : [];
    const hint =
      near.length > 0
        ? `did you mean ${near.join(" or ")}?`
        : `types: ${Object.keys(TYPED).join(", ")}; a call has no type`;
    return bad(fields, `There is no message type ${describe(type)}`, hint);
  }
  return (
    check(fields, { type: required(anything), ...shape }, `a ${type} message`) ?? {
      ok: true,
      message: toMessage(fields),
    }
  );
}

function check(fields: Fields, shape: Shape, what: string): ReadResult | null {
  for (const [name, field] of Object.entries(shape)) {
    if (!Object.hasOwn(fields, name)) {
      if (field.presence === "required")
        return bad(fields, `"${name}" is missing`, `${what} has ${Object.keys(shape).join(", ")}`);
      continue;
    }
    const wanted = field.check(fields[name]);
    if (wanted !== null)
      return bad(
        fields,
        `"${name}" is ${describe(fields[name])}, and ${wanted} is wanted`,
        `send "${name}" as ${wanted}`,
      );
  }
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(shape, name));
  if (unknown === undefined) return null;
  const near = nearestNames(unknown, Object.keys(shape));
  return bad(
    fields,
    `${JSON.stringify(unknown.slice(0, 64))} is not a field of ${what}`,
    near.length > 0 ? `did you mean ${near.join(" or ")}?` : `fields: ${Object.keys(shape).join(", ")}`,
  );
}

// The checks above have passed: each field has the type that its shape asks for; String() and the comparisons only tell the compiler.
function toCall(fields: Fields): CallMessage {
  const timeoutMs = fields["timeoutMs"];
  const limit = typeof timeoutMs === "number" ? { timeoutMs } : {};
  return {
    id: String(fields["id"]),
    tool: String(fields["tool"]),
    input: fields["input"],
    stream: fields["stream"] === true,
    ...limit,
  };
}

function toMessage(fields: Fields): ClientMessage {
  const id = String(fields["id"]);
  if (fields["type"] === "permission") {
    return { type: "permission", id, answer: toAnswer(fields) };
  }
  if (fields["type"] === "cancel") return { type: "cancel", id };
  return fields["type"] === "hello" ? { type: "hello", answers: fields["answers"] === true } : { type: "ping" };
}

function toAnswer(fields: Fields): PermissionAnswer {
  const { reason, rule, forMs, uses } = fields;
  const scope = SCOPES.find((known) => known === fields["scope"]);
  return {
    choice: PERMISSION_CHOICES.find((known) => known === fields["choice"]) ?? "deny",
    ...(typeof reason === "string" ? { reason } : {}),
    ...(typeof rule === "string" ? { rule } : {}),
    ...(scope ? { scope } : {}),
    ...(typeof forMs === "number" ? { forMs } : {}),
    ...(typeof uses === "number" ? { uses } : {}),
  };
}

function bad(fields: Fields, message: string, hint: string): ReadResult {
  const id = fields["id"];
  return { ok: false, ...(isId(id) ? { id } : {}), error: { code: "serve.bad_message", message, hint } };
}

function isId(value: unknown): value is string {
  return typeof value === "string" && value.length >= 1 && value.length <= LONGEST_ID;
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  if (typeof value !== "string") return `${typeof value} ${String(value)}`;
  return value.length > 64 ? `a text of ${value.length} characters` : JSON.stringify(value);
}
