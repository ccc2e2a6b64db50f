/** `npm run conformance [-- [--install] [--keep] [--only=TEXT] [TOOL…]]`: runs the cases in every tool that is here, prints the table. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../cli/build/cache.ts";
import { sharedCordon } from "../support/tiers.ts";
import { allAdapters } from "./adapters/all.ts";
import { loadCases } from "./load_cases.ts";
import { installPeers } from "./peers.ts";
import { runColumn } from "./run_column.ts";
import { type Column, details, markdown, readColumns, writeColumns } from "./score.ts";

const words = process.argv.slice(2);
if (words.includes("--install")) installPeers();
const only = words.find((word) => word.startsWith("--only="))?.slice("--only=".length) ?? "";
const wanted = words.filter((word) => !word.startsWith("--"));
const cases = loadCases().filter(({ id, group }) => `${group}/${id}`.includes(only));
const folder = mkdtempSync("/var/tmp/conformance-cordon-");
try {
  const all = allAdapters(sharedCordon(folder));
  const adapters = all.filter(
    ({ id }) => wanted.length === 0 || wanted.some((word) => id === word || id.startsWith(`${word}/`)),
  );
  if (adapters.length === 0) throw new Error(`No tool is called ${wanted.join(" or ")}`);
  const columns: Column[] = [];
  const kept = words.includes("--keep") ? readColumns(join(ROOT, "dist", "conformance.json")) : [];
  for (const adapter of adapters) {
    const column = { id: adapter.id, version: "", missing: adapter.missing, outcomes: new Map() };
    columns.push(column);
    if (adapter.missing !== null) continue;
    column.version = adapter.version();
    const began = performance.now();
    const { outcome, done } = runColumn(cases, adapter);
    for (const { id } of cases) column.outcomes.set(id, await outcome(id));
    await done;
    process.stderr.write(
      `${adapter.id}: ${cases.length} cases in ${((performance.now() - began) / 1000).toFixed(1)} s\n`,
    );
  }
  const order = all.map(({ id }) => id);
  columns.push(...kept.filter(({ id }) => columns.every((column) => column.id !== id)));
  columns.sort((one, other) => order.indexOf(one.id) - order.indexOf(other.id));
  const date = new Date().toISOString().slice(0, 10);
  const table = markdown(cases, columns, `${date}, Linux ${release()}, ${process.arch}.`);
  process.stdout.write(`${details(cases, columns)}\n\n${table}`);
  // A part of the cases is a look, not a result.
  if (only === "") {
    mkdirSync(join(ROOT, "dist"), { recursive: true });
    writeColumns(join(ROOT, "dist", "conformance.json"), columns);
    writeFileSync(join(ROOT, "dist", "conformance.md"), table);
    writeFileSync(join(ROOT, "dist", "conformance.txt"), `${details(cases, columns)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
