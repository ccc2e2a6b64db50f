/** The checks that only read TypeScript: format and lint (biome), types (tsc). Neither writes a file. */
import { join } from "node:path";
import { ROOT } from "./cache.ts";
import type { Tally } from "./check_tests.ts";
import { tryTool } from "./run_tool.ts";

/** Biome's format and lint rules over the whole tree. */
export async function formatAndLint(): Promise<Tally> {
  return one("format and lint", ["@biomejs/biome/bin/biome", "ci", "--colors=off", "--max-diagnostics=50", "."]);
}

/** The strict type check of all TypeScript, generated declarations included. */
export async function types(): Promise<Tally> {
  return one("types", ["typescript/bin/tsc", "--project", ROOT, "--pretty", "false"]);
}

/** Each counts as one check that passes or fails. */
async function one(name: string, [script, ...args]: [string, ...string[]]): Promise<Tally> {
  const end = await tryTool({
    what: name,
    argv: [process.execPath, join(ROOT, "node_modules", script), ...args],
    cwd: ROOT,
  });
  const passed = end.exitCode === 0;
  return { name, passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: [], output: end.output };
}
