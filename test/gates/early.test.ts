/** What is imported on the way to a search: node's modules are made from source in each process, node:crypto in 4 to 13 ms. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "../../cli/build/cache.ts";

/** Where a search begins, and what it loads late. Only what these import at once counts. */
const LOADED = [
  "cli/main.ts",
  "cli/commands/grep.ts",
  "cli/commands/glob.ts",
  "core/engine/ahead.ts",
  "core/engine/policy.ts",
  "core/dispatch/accept_input.ts",
  "core/tools/builtin.ts",
  "core/exec/search/mod.ts",
  "core/exec/search/worker.ts",
];

/** Those that nothing can be opened without. */
const NEEDED = ["bun:ffi", "node:fs", "node:path"];

const transpiler = new Bun.Transpiler({ loader: "ts" });

/** Names of node's and Bun's modules that a file and what it imports at once import at once, and by which file. */
function modulesOf(file: string, seen: Set<string>): { module: string; by: string }[] {
  if (seen.has(file) || !file.endsWith(".ts")) return [];
  seen.add(file);
  const imports = transpiler.scanImports(readFileSync(file, "utf8")).filter(({ kind }) => kind === "import-statement");
  return imports.flatMap(({ path }) => {
    if (/^(node|bun):/.test(path)) return [{ module: path, by: relative(ROOT, file) }];
    const found = Bun.resolveSync(path, dirname(file));
    return found.startsWith(join(ROOT, "node_modules")) ? [] : modulesOf(found, seen);
  });
}

test("a search loads no module of node that it can do without", () => {
  const seen = new Set<string>();
  const found = LOADED.flatMap((file) => modulesOf(join(ROOT, file), seen));
  expect(found.map(({ module }) => module)).toContain("node:fs");
  expect(seen.size).toBeGreaterThan(100);
  expect(found.filter(({ module }) => !NEEDED.includes(module))).toEqual([]);
});
