import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { type Case, CaseFile } from "./case.ts";

/** A case with the group it counts for. */
export type GroupedCase = Case & { group: string };

const FOLDER = join(import.meta.dir, "cases");

/** Reads all cases in the order of their files. Throws a sentence when a file does not match the schema or an id is there twice. */
export function loadCases(): GroupedCase[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".json"));
  const cases = files.sort().flatMap(readGroup);
  const ids = new Set<string>();
  for (const { id } of cases) {
    if (ids.has(id)) throw new Error(`Two cases are called ${id}: give one another name`);
    ids.add(id);
  }
  return cases;
}

function readGroup(name: string): GroupedCase[] {
  const found: unknown = JSON.parse(readFileSync(join(FOLDER, name), "utf8"));
  if (!Value.Check(CaseFile, found)) {
    const fault = Value.Errors(CaseFile, found).First();
    throw new Error(`${name}${fault?.path ?? ""}: ${fault?.message ?? "does not match the schema"}`);
  }
  for (const one of found.cases) {
    const ways = [one.sh, one.python, one.argv].filter((way) => way !== undefined);
    if (ways.length !== 1) throw new Error(`${name}: ${one.id} must have exactly one of sh, python and argv`);
  }
  return found.cases.map((one) => ({ ...one, group: found.group }));
}
