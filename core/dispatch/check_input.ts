import type { TSchema } from "@sinclair/typebox";
import { Errors, type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { Default } from "@sinclair/typebox/value";
import type { AnyTool } from "../contract/tool.ts";
import { nearestNames } from "../config/nearest_names.ts";
import { type AcceptedInput, coerceInput, schemaOf } from "./accept_input.ts";

/** One fault with its place as a JSON pointer, what was expected and what was found (A3). */
export type InputFault = { path: string; message: string; expected: string; received: string; hint?: string };

/** `args` is usable only when `faults` is empty. */
export type CheckedInput = AcceptedInput & { faults: InputFault[] };

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
  const { args, coercions } = coerceInput(tool, input);
  const faults = [...Errors(schema, args)].map(toFault);
  if (faults.length > 0) return { args, faults: oneForEachPlace(faults), coercions };
  return { args: Default(schema, args), faults: [], coercions };
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
