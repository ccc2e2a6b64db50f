import { KindGuard, type TObject, type TSchema } from "@sinclair/typebox";
import { Check, Default } from "@sinclair/typebox/value";
import type { Coercion } from "../contract/call.ts";
import type { AnyTool } from "../contract/tool.ts";

/** What a tool is called with: defaults are filled in and bounded coercions are applied (C11). */
export type AcceptedInput = { args: unknown; coercions: Coercion[] };

/**
 * Takes an input that fits a tool's schema; undefined for one that does not, whose faults check_input.ts finds: most calls need no words for
 * them, and those are half of the checker's code. Never throws and never changes `input`.
 */
export function acceptInput(tool: AnyTool, input: object): AcceptedInput | undefined {
  const schema = schemaOf(tool);
  const { args, coercions } = coerceInput(tool, input);
  return Check(schema, args) ? { args: Default(schema, args), coercions } : undefined;
}

/** The input with fields by their own names and coerced values, as the schema sees it. */
export function coerceInput(tool: AnyTool, input: object): { args: Record<string, unknown>; coercions: Coercion[] } {
  const schema = schemaOf(tool);
  const coercions: Coercion[] = [];
  const renamed = renameParams(input, tool.paramAliases ?? {}, schema, coercions);
  return { args: coerceFields(renamed, schema, coercions), coercions };
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
