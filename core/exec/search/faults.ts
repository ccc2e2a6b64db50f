import { nearestNames } from "../../config/nearest_names.ts";
import { ToolFault } from "../../contract/fault.ts";
import { type EngineFault, engineFault } from "../../engine/search.ts";

/** Runs a call of the component that may refuse the query, and turns its refusal into a ToolFault. */
export function refusing<Result>(call: () => Result, asFault: (fault: EngineFault) => ToolFault): Result {
  try {
    return call();
  } catch (thrown) {
    const fault = engineFault(thrown);
    throw fault === undefined ? thrown : asFault(fault);
  }
}

/** A pattern that can't be compiled: `search.bad_pattern` with the place, counted in characters from 1. */
export function badPattern(pattern: string, fault: EngineFault): ToolFault {
  const column = fault.position === undefined ? undefined : charactersIn(pattern, fault.position) + 1;
  const place = column === undefined ? "" : ` at character ${column}`;
  return new ToolFault({
    code: "search.bad_pattern",
    message: `Cannot compile the pattern "${pattern}": ${fault.message}${place}`,
    ...(fault.hint === undefined ? {} : { hint: sentence(fault.hint) }),
    ...(column === undefined ? {} : { details: { column } }),
  });
}

/** A glob or a file type that can't be used: `search.bad_glob` or `search.bad_type`. */
export function badScope(
  given: { globs: readonly string[]; only?: string; fileTypes: readonly string[]; fileTypesNot: readonly string[] },
  fault: EngineFault,
): ToolFault {
  if (fault.part === "file-type") return badType([...given.fileTypes, ...given.fileTypesNot], fault);
  return new ToolFault({
    code: "search.bad_glob",
    message: `Cannot use the glob "${[...given.globs, given.only ?? []].flat().join(", ")}": ${fault.message}`,
    hint: "Use *, **, ?, [a-z] and {a,b}; put a backslash before a character that is meant as it stands",
  });
}

function badType(names: readonly string[], { message, known = [] }: EngineFault): ToolFault {
  const unknown = names.find((name) => name !== "all" && !known.includes(name)) ?? "";
  const nearest = nearestNames(unknown, known).map((name) => `"${name}"`);
  return new ToolFault({
    code: "search.bad_type",
    message: `Cannot search files of type "${names.join(", ")}": ${message}`,
    hint: `${nearest.length === 0 ? "" : `Did you mean ${nearest.join(" or ")}? `}Types are those of ripgrep, like "ts", "js", "py", "rust"; or give a glob like "*.tsx"`,
  });
}

function charactersIn(text: string, bytes: number): number {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes)).length;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
