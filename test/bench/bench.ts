/**
 * `npm run bench [-- --markdown] [WORD …]`: measures the rows whose text holds a word, prints a table (with --markdown as it stands in
 * the README), writes test/bench/results/*.json.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join } from "node:path";
import { cacheFolder, ROOT } from "../../cli/build/cache.ts";
import { compare, whyNot } from "./alternate.ts";
import { decisionFigures } from "./decisions.ts";
import { measurePhases } from "./phases.ts";
import { type Figure, type Result, tableLines } from "./print_table.ts";
import { CORDON, makeRows, type Row } from "./rows.ts";
import { searchesInServe, searchMemory, warmSearches } from "./search_rows.ts";

const form = process.argv.includes("--markdown") ? "markdown" : "text";
const words = process.argv.slice(2).filter((word) => word !== "--markdown");
const folder = join(cacheFolder(), "bench");
mkdirSync(folder, { recursive: true });
const rows = makeRows(folder, words).filter((row) => matches(row, words));
const results = rows.map(measure);
const phases = words.length === 0 ? measurePhases(folder) : [];
const figures = await figuresFor(words);
for (const line of tableLines(results, figures, form)) console.log(line);
for (const { phase, medianMs } of phases) console.log(`  ${phase.padEnd(34)} ${medianMs.toFixed(2).padStart(8)} ms`);
console.log(`\nWritten to ${write()}`);

function matches(row: Row, wanted: string[]): boolean {
  const text = `${row.what} ${row.subject.name} ${row.peer.name}`;
  return wanted.length === 0 || wanted.some((word) => text.includes(word));
}

/** What has no row of its own: all of it, or that of the words "search", "serve", "warm" and "decisions". */
async function figuresFor(wanted: string[]): Promise<Figure[]> {
  const memory = wanted.length === 0 ? idleServe(join(folder, "workspace")) : [];
  if (wanted.length === 0 || wanted.includes("search")) memory.push(...searchMemory(CORDON, folder));
  if (wanted.length === 0 || wanted.includes("search") || wanted.includes("serve"))
    memory.push(...(await searchesInServe(CORDON, folder)));
  if (wanted.length === 0 || wanted.includes("warm")) memory.push(...(await warmSearches(CORDON, folder)));
  if (wanted.length > 0 && !wanted.includes("decisions")) return memory;
  process.stderr.write("  decisions of the policy …\n");
  return [...memory, ...(await decisionFigures(CORDON))];
}

/** A peer that is not here is a row without figures, and no failure. */
function measure(row: Row): Result {
  const adds = row.adds ? { adds: row.adds } : {};
  const head = { what: row.what, subject: row.subject.name, peer: row.peer.name, target: row.target, ...adds };
  const missing = whyNot(row.subject) ?? whyNot(row.peer);
  process.stderr.write(`  ${row.subject.name} against ${row.peer.name} …\n`);
  return missing === undefined
    ? { ...head, measured: compare(row.subject, row.peer, row.rounds) }
    : { ...head, missing };
}

/** Memory of a serve that has nothing to do after its first call. */
function idleServe(workspace: string): Figure[] {
  const argv = [process.execPath, join(import.meta.dir, "bash_in_serve.ts"), "memory", CORDON];
  const end = Bun.spawnSync(argv, { cwd: workspace, stderr: "ignore" });
  return end.success ? [{ what: "memory of an idle serve", value: Number(end.stdout), unit: "MB", target: 60 }] : [];
}

function write(): string {
  const at = new Date().toISOString();
  const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, kernel: release(), bun: Bun.version };
  const name = join("test", "bench", "results", `${at.replaceAll(/[:.]/g, "-")}.json`);
  mkdirSync(join(ROOT, "test", "bench", "results"), { recursive: true });
  writeFileSync(join(ROOT, name), `${JSON.stringify({ at, machine, results, figures, phases }, undefined, 2)}\n`);
  return name;
}
