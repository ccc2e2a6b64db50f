import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import type { Coercion } from "../contract/call.ts";
import type { AnyTool } from "../contract/tool.ts";
import { nearestNames } from "../config/nearest_names.ts";

/** One fault with its place as a JSON pointer, what was expected and what was found (A3). */
export type InputFault = { path: string; message: string; expected: string; received: string; hint?: string };

/** `args` is usable only when `faults` is empty; defaults are filled in and bounded coercions are applied (C11). */
export type CheckedInput = { args: unknown; faults: InputFault[]; coercions: Coercion[] };

/** Checks one input against a tool's schema. Finds every fault at once. Never throws and never changes `input`. */
export function checkInput(tool: AnyTool, input: unknown): CheckedInput {
  const schema = schemaOf(tool);
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    const fault = {
      path: "",
      message: `expected an object, received ${describe(input)}`,
      expected: "object",
      received: describe(input),
    };
    return { args: input, faults: [fault], coercions: [] };
  }
  const coercions: Coercion[] = [];
  const renamed = renameParams(input, tool.paramAliases ?? {}, schema, coercions);
  const args = coerceFields(renamed, schema, coercions);
  const faults = [...Value.Errors(schema, args)].map(toFault);
  if (faults.length > 0) return { args, faults: oneForEachPlace(faults), coercions };
  return { args: Value.Default(schema, args), faults: [], coercions };
}

/** The schema of a tool that has one. Throws for a tool whose input is checked by its own guard. */
export function schemaOf(tool: AnyTool): TObject {
  if (tool.input.kind === "schema") return tool.input.params();
  throw new TypeError(`${tool.name} has no schema`);
}

function renameParams(
  input: object,
  aliases: Record<string, string>,
  schema: TObject,
  coercions: Coercion[],
): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const target = Object.hasOwn(aliases, key) ? aliases[key] : undefined;
    // An alias never overrides the real name: with both present the alias stays and is refused as unknown.
    if (target && !(target in input) && target in schema.properties) {
      coercions.push({ path: `/${key}`, from: key, to: target });
      out[target] = value;
    } else if (key === "__proto__") {
      Object.defineProperty(out, key, { value, enumerable: true });
    } else {
      out[key] = value;
    }
  }
  return out;
}

/**
 * "5" for 5, "true" for true, null for an absent optional (C11). Text stays text: a command, a path or file content is
 * never changed.
 */
function coerceFields(args: Record<string, unknown>, schema: TObject, coercions: Coercion[]): Record<string, unknown> {
  const required = new Set(schema.required ?? []);
  for (const [key, field] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(args, key)) continue;
    const value = args[key];
    if (value === null && !required.has(key)) {
      delete args[key];
      coercions.push({ path: `/${key}`, from: "null", to: "absent" });
    } else if (typeof value === "string") {
      const coerced = coerceText(value, field);
      if (coerced === undefined) continue;
      args[key] = coerced;
      coercions.push({ path: `/${key}`, from: JSON.stringify(value), to: String(coerced) });
    }
  }
  return args;
}

function coerceText(value: string, field: TSchema): number | boolean | undefined {
  if ((KindGuard.IsInteger(field) || KindGuard.IsNumber(field)) && /^-?\d{1,15}(\.\d{1,15})?$/.test(value))
    return Number(value);
  if (KindGuard.IsBoolean(field) && (value === "true" || value === "false")) return value === "true";
  return undefined;
}

function toFault(error: ValueError): InputFault {
  const received = describe(error.value);
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    const known = Object.keys(error.schema["properties"] ?? {});
    const near = nearestNames(error.path.slice(error.path.lastIndexOf("/") + 1), known);
    const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : `known fields: ${known.join(", ")}`;
    return { path: error.path, message: "is not a field of this tool", expected: "no such field", received, hint };
  }
  if (error.value === undefined)
    return { path: error.path, message: "is required", expected: expectation(error.schema), received: "nothing" };
  const expected = expectation(error.schema);
  return { path: error.path, message: `expected ${expected}, received ${received}`, expected, received };
}

/** TypeBox reports a missing field twice (required, then its type); people need it once. */
function oneForEachPlace(faults: InputFault[]): InputFault[] {
  const seen = new Map<string, InputFault>();
  for (const fault of faults) if (!seen.has(fault.path)) seen.set(fault.path, fault);
  return [...seen.values()];
}

function expectation(schema: TSchema): string {
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].map((s: TSchema) => expectation(s)).join(" or ");
  if (schema["const"] !== undefined) return JSON.stringify(schema["const"]);
  const bounds = [
    schema["minimum"] === undefined ? "" : `at least ${schema["minimum"]}`,
    schema["maximum"] === undefined ? "" : `at most ${schema["maximum"]}`,
    schema["minLength"] === undefined
      ? ""
      : `at least ${schema["minLength"]} character${schema["minLength"] === 1 ? "" : "s"}`,
    schema["maxLength"] === undefined ? "" : `at most ${schema["maxLength"]} characters`,
  ].filter(Boolean);
  return [schema["type"] ?? "another value", ...bounds].join(", ");
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "object") return "an object";
  if (typeof value === "string")
    return value.length > 40 ? `text of ${value.length} characters` : JSON.stringify(value);
  return value === undefined ? "nothing" : `${typeof value} ${String(value)}`;
}
