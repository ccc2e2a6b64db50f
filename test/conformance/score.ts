/** The score table: what passed of what applies, for each group and tool. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { GroupedCase } from "./load_cases.ts";
import type { Outcome } from "./run_case.ts";

/** All outcomes of one tool by case id. */
export type Column = { id: string; version: string; missing: string | null; outcomes: Map<string, Outcome> };

/** The table as Markdown, with totals in the last row. Rows are groups. */
export function markdown(cases: GroupedCase[], columns: Column[], facts: string): string {
  const shown = columns.filter(({ missing }) => missing === null);
  const groups = [...new Set(cases.map(({ group }) => group))];
  const row = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const rows = groups.map((group) => {
    const own = cases.filter((one) => one.group === group);
    return row([group, String(own.length), ...shown.map((column) => score(own, column))]);
  });
  const absent = columns.flatMap(({ id, missing }) => (missing === null ? [] : [`\`${id}\`: ${missing}`]));
  return [
    facts,
    "",
    row(["group", "cases", ...shown.map(({ id, version }) => `${id} ${version}`)]),
    row(["---", "---", ...shown.map(() => "---")]),
    ...rows,
    row(["**all**", `**${cases.length}**`, ...shown.map((column) => `**${score(cases, column)}**`)]),
    "",
    "Passed of those that apply; what a tool has no word for does not count, nor what this machine lacks a program for.",
    ...(absent.length > 0 ? ["", `Not run: ${absent.join("; ")}.`] : []),
    "",
  ].join("\n");
}

function score(cases: GroupedCase[], { outcomes }: Column): string {
  const states = cases.map(({ id }) => outcomes.get(id)?.state);
  const count = (state: Outcome["state"]) => states.filter((one) => one === state).length;
  const applying = count("passed") + count("failed");
  return applying === 0 ? "–" : `${count("passed")}/${applying}`;
}

/** One line for each case that did not pass, with the reason. */
export function details(cases: GroupedCase[], columns: Column[]): string {
  return columns
    .flatMap(({ id, outcomes }) =>
      cases.flatMap((one) => {
        const outcome = outcomes.get(one.id);
        if (outcome === undefined || outcome.state === "passed") return [];
        return [`${id}: ${one.id} ${outcome.state.replace("_", " ")}: ${outcome.why}`];
      }),
    )
    .join("\n");
}

/** Keeps columns for a later run that tries other tools. */
export function writeColumns(path: string, columns: Column[]): void {
  const plain = columns.map((column) => ({ ...column, outcomes: [...column.outcomes] }));
  writeFileSync(path, JSON.stringify(plain));
}

/** The columns of an earlier run; none where there was none. */
export function readColumns(path: string): Column[] {
  if (!existsSync(path)) return [];
  const plain: (Omit<Column, "outcomes"> & { outcomes: [string, Outcome][] })[] = JSON.parse(
    readFileSync(path, "utf8"),
  );
  return plain.map((column) => ({ ...column, outcomes: new Map(column.outcomes) }));
}
