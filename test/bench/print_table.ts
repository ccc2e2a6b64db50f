/** The table of the measurements, for a terminal or as it stands in the README. */
import type { Comparison } from "./alternate.ts";

/** A measured row, or the reason why it could not be measured. */
export type Result = { what: string; subject: string; peer: string; target: number; adds?: true } & (
  | { measured: Comparison }
  | { missing: string }
);

/** One number that has no peer, with the most that it may be, or the least; some have no aim. */
export type Figure = { what: string; value: number; unit: string; target?: number; atLeast?: true };

const HEAD = ["what", "ours", "against", "ratio", "middle half", "wanted", "reached"];

/** The lines of the table. */
export function tableLines(
  results: readonly Result[],
  figures: readonly Figure[],
  form: "text" | "markdown",
): string[] {
  const rows = [HEAD, ...results.map(cellsOf), ...figures.map(figureCells)];
  if (form === "markdown")
    return rows.flatMap((cells, at) => [
      `| ${cells.join(" | ")} |`,
      ...(at === 0 ? [`|${"---|".repeat(cells.length)}`] : []),
    ]);
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows.map((cells) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function cellsOf(result: Result): string[] {
  const { what, subject, peer, target, adds } = result;
  const wanted = adds ? `+ ${target} ms` : `≤ ${Number(target.toPrecision(3))}`;
  if ("missing" in result) return [what, subject, peer, "–", "–", wanted, `not measured: ${result.missing}`];
  const { ratio, low, high, addedMs } = result.measured;
  const named = (name: string, ms: number) => `${name}, ${ms.toFixed(ms < 100 ? 1 : 0)} ms`;
  return [
    what,
    named(subject, result.measured.subject.medianMs),
    named(peer, result.measured.peer.medianMs),
    adds ? `+ ${addedMs.toFixed(1)} ms` : ratio.toFixed(2),
    `${low.toFixed(2)} to ${high.toFixed(2)}`,
    wanted,
    (adds ? addedMs : ratio) <= target ? "yes" : "no",
  ];
}

function figureCells({ what, value, unit, target, atLeast }: Figure): string[] {
  const shown = (number: number) => `${Math.round(number).toLocaleString("en")} ${unit}`;
  if (target === undefined) return [what, shown(value), "–", "–", "–", "–", "–"];
  const reached = atLeast ? value >= target : value <= target;
  return [what, shown(value), "–", "–", "–", `${atLeast ? "≥" : "≤"} ${shown(target)}`, reached ? "yes" : "no"];
}
