import { ToolFault } from "../contract/fault.ts";
import type { Verdict } from "../contract/verdict.ts";
import { ownedFileSync } from "../config/look.ts";
import { type CheckBasis, decideLine } from "./check.ts";
import { type CheckLine, readCheckLine } from "./check_line.ts";
import type { RuleSets } from "./rule_sets.ts";

/** One line of a test file: a question as `policy check --stdin` takes it, with the decision that is wanted. */
export type Expectation = { origin: string; line: CheckLine; expect: Verdict };

/** No file of tests is larger. In bytes. */
const SIZE_LIMIT = 64 << 20;

const VERDICTS: readonly Verdict[] = ["allow", "ask", "deny"];

/** Reads a file of JSON lines; empty lines and lines that start with // are left out. Throws ToolFault `config.invalid` with file:line. */
export function readTestLines(path: string): Expectation[] {
  const found = open(path);
  return found.split("\n").flatMap((text, at) => {
    if (text.trim() === "" || text.trim().startsWith("//")) return [];
    const origin = `${path}:${at + 1}:1`;
    try {
      const line = readCheckLine(text);
      const { expect } = JSON.parse(text) as { expect?: unknown };
      const wanted = VERDICTS.find((verdict) => verdict === expect);
      if (wanted === undefined)
        throw fault(origin, `"expect" is ${JSON.stringify(expect)}`, `one of ${VERDICTS.join(", ")} is wanted`);
      return [{ origin, line, expect: wanted }];
    } catch (error) {
      if (error instanceof ToolFault && error.code !== "config.invalid")
        throw fault(origin, error.message, error.hint ?? "");
      throw error;
    }
  });
}

/** What differs, in one sentence; null where the decision is the wanted one. */
export async function runExpectation(
  { line, expect }: Expectation,
  basis: CheckBasis,
  sets: RuleSets,
): Promise<string | null> {
  const { verdict, reason } = await decideLine(line, basis, sets);
  return verdict === expect ? null : `${expect} is wanted, and it is ${verdict}: ${reason}`;
}

function open(path: string): string {
  try {
    const found = ownedFileSync(path, SIZE_LIMIT);
    if (found === "other" || found === "large")
      throw fault(`${path}:1:1`, found === "other" ? "it is no file" : "it is too large", "");
    return new TextDecoder("utf-8", { fatal: true }).decode(found.bytes);
  } catch (error) {
    if (error instanceof ToolFault) throw error;
    throw fault(`${path}:1:1`, `it can't be read: ${error instanceof Error ? error.message : String(error)}`, "");
  }
}

function fault(origin: string, found: string, wanted: string): ToolFault {
  return new ToolFault({
    code: "config.invalid",
    message: `${origin}: ${found}`,
    ...(wanted === "" ? {} : { hint: wanted }),
  });
}
