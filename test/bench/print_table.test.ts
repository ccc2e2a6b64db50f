import { expect, test } from "bun:test";
import type { Comparison } from "./alternate.ts";
import { type Figure, type Result, tableLines } from "./print_table.ts";

const times = (medianMs: number) => ({ name: "", medianMs, minMs: medianMs, cpuMs: medianMs });
const measured: Comparison = {
  rounds: 3,
  subject: times(6),
  peer: times(5),
  ratio: 1.2,
  low: 1.1,
  high: 1.3,
  addedMs: 1,
};
const row = { what: "w", subject: "ours", peer: "theirs", target: 1.1 };

test("a table for the README has one line a row, with what was reached", () => {
  const results: Result[] = [
    { ...row, measured },
    { ...row, target: 3, adds: true, measured },
    { ...row, missing: "not here" },
  ];
  const figures: Figure[] = [
    { what: "memory", value: 41, unit: "MB", target: 60 },
    { what: "decisions", value: 49_999, unit: "a second", target: 50_000, atLeast: true },
    { what: "at first", value: 5, unit: "µs" },
  ];
  const lines = tableLines(results, figures, "markdown");
  expect(lines.slice(1)).toEqual([
    "|---|---|---|---|---|---|---|",
    "| w | ours, 6.0 ms | theirs, 5.0 ms | 1.20 | 1.10 to 1.30 | ≤ 1.1 | no |",
    "| w | ours, 6.0 ms | theirs, 5.0 ms | + 1.0 ms | 1.10 to 1.30 | + 3 ms | yes |",
    "| w | ours | theirs | – | – | ≤ 1.1 | not measured: not here |",
    "| memory | 41 MB | – | – | – | ≤ 60 MB | yes |",
    "| decisions | 49,999 a second | – | – | – | ≥ 50,000 a second | no |",
    "| at first | 5 µs | – | – | – | – | – |",
  ]);
});

test("a table for a terminal has its columns under one another", () => {
  const [head = "", line = ""] = tableLines([{ ...row, measured }], [], "text");
  expect(head.indexOf("against")).toBe(line.indexOf("theirs"));
});
