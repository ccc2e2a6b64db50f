/** `npm run bench [WORD …]`: measures the rows whose text holds a word, prints a table, writes test/bench/results/*.json. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, release } from "node:os";
import { join } from "node:path";
import { cacheFolder, ROOT } from "../../cli/build/cache.ts";
import { type Comparison, compare, whyNot } from "./alternate.ts";
import { measurePhases } from "./phases.ts";
import { makeRows, type Row } from "./rows.ts";

/** A measured row, or the reason why it could not be measured. */
type Result = { what: string; subject: string; peer: string; target: number } & (
  | { measured: Comparison }
  | { missing: string }
);

const words = process.argv.slice(2);
const folder = join(cacheFolder(), "bench");
mkdirSync(folder, { recursive: true });
const rows = makeRows(folder).filter((row) => matches(row, words));
const results = rows.map(measure);
const phases = words.length === 0 ? measurePhases(folder) : [];
print(results);
for (const { phase, medianMs } of phases) console.log(`  ${phase.padEnd(34)} ${medianMs.toFixed(2).padStart(8)} ms`);
console.log(`\nWritten to ${write()}`);

function matches(row: Row, wanted: string[]): boolean {
  const text = `${row.what} ${row.subject.name} ${row.peer.name}`;
  return wanted.length === 0 || wanted.some((word) => text.includes(word));
}

/** A peer that is not here is a row without figures, and no failure. */
function measure(row: Row): Result {
  const head = { what: row.what, subject: row.subject.name, peer: row.peer.name, target: row.target };
  const missing = whyNot(row.subject) ?? whyNot(row.peer);
  process.stderr.write(`  ${row.subject.name} against ${row.peer.name} …\n`);
  return missing === undefined
    ? { ...head, measured: compare(row.subject, row.peer, row.rounds) }
    : { ...head, missing };
}

function print(all: Result[]): void {
  const widths = [22, 26, 24, 11, 11, 8, 14, 8];
  const line = (cells: string[]) =>
    console.log(
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join(" ")
        .trimEnd(),
    );
  line(["what", "ours", "peer", "ours ms", "peer ms", "ratio", "middle half", "reach"]);
  for (const result of all) {
    const names = [result.what, result.subject, result.peer];
    if ("missing" in result) line([...names, `not measured: ${result.missing}`]);
    else {
      const { subject, peer, ratio, low, high } = result.measured;
      const reached = `≤ ${result.target} ${ratio <= result.target ? "yes" : "no"}`;
      line([
        ...names,
        subject.medianMs.toFixed(2),
        peer.medianMs.toFixed(2),
        ratio.toFixed(2),
        `${low.toFixed(2)} to ${high.toFixed(2)}`,
        reached,
      ]);
    }
  }
}

function write(): string {
  const at = new Date().toISOString();
  const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, kernel: release(), bun: Bun.version };
  const name = join("test", "bench", "results", `${at.replaceAll(/[:.]/g, "-")}.json`);
  mkdirSync(join(ROOT, "test", "bench", "results"), { recursive: true });
  writeFileSync(join(ROOT, name), `${JSON.stringify({ at, machine, results, phases }, undefined, 2)}\n`);
  return name;
}
