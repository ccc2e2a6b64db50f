/** Runs groups of bun tests and counts them. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { listFiles, logFolder, ROOT } from "./cache.ts";
import { tryTool } from "./run_tool.ts";

/** What a group of checks came to. `skipped` holds sentences; `output` is shown when something failed. */
export type Tally = { name: string; passed: number; failed: number; skipped: string[]; output: string };

/** Much longer than any test should take: it only ends those that hang. */
const TEST_TIMEOUT_MS = 60_000;

/** A group that takes longer has hung outside any test; the whole of `npm test` has 25 minutes. */
const GROUP_TIMEOUT_MS = 17 * 60_000;

/** Folders of test/ that hold no end-to-end tests: gates run in `check`, bench measures, support is imported. */
const NOT_END_TO_END = new Set(["gates", "bench", "support", "node_modules"]);

/** The folders of test/ with tests that drive the built executable. */
export function endToEndFolders(): string[] {
  const entries = readdirSync(join(ROOT, "test"), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !NOT_END_TO_END.has(entry.name))
    .map((entry) => `test/${entry.name}`);
}

/** How long a group may take, and what its tests find in their environment. */
type Group = { timeoutMs?: number; env?: Record<string, string> };

/** Runs every *.test.ts below the folders in one bun process. No tests at all is no failure. */
export async function bunTests(name: string, folders: string[], group: Group = {}): Promise<Tally> {
  const files = folders.flatMap((folder) => listFiles(join(ROOT, folder))).filter((path) => path.endsWith(".test.ts"));
  if (files.length === 0) return { name, passed: 0, failed: 0, skipped: ["there are no tests yet"], output: "" };
  const report = join(logFolder(), `${name.replaceAll(" ", "_")}.xml`);
  mkdirSync(logFolder(), { recursive: true });
  rmSync(report, { force: true });
  const end = await tryTool({
    what: name,
    argv: [
      process.execPath,
      "test",
      `--timeout=${TEST_TIMEOUT_MS}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...files.map((path) => `./${relative(ROOT, path)}`),
    ],
    cwd: ROOT,
    timeoutMs: group.timeoutMs ?? GROUP_TIMEOUT_MS,
    env: { NO_COLOR: "1", FORCE_COLOR: undefined, ...group.env },
  });
  return { name, ...countTests(report, end.exitCode), output: failuresOf(end.output) };
}

/** The exit code decides; the report only says how many. A run that died before it could report counts as one failure. */
function countTests(report: string, exitCode: number): Pick<Tally, "passed" | "failed" | "skipped"> {
  let head = "";
  try {
    head = readFileSync(report, "utf8").match(/<testsuites [^>]*>/)?.[0] ?? "";
  } catch {
    // No report: counted below.
  }
  const count = (attribute: string) => Number(head.match(new RegExp(` ${attribute}="(\\d+)"`))?.[1] ?? 0);
  const skipped = count("skipped");
  const failed = Math.max(count("failures") + count("errors"), exitCode === 0 ? 0 : 1);
  return {
    passed: Math.max(0, count("tests") - count("failures") - skipped),
    failed,
    skipped: skipped === 0 ? [] : [`${skipped} tests say that this machine can't run them`],
  };
}

/** What people need to see of a failed run: all of it but the tests that passed. */
function failuresOf(output: string): string {
  return output
    .split("\n")
    .filter((line) => !/^\((pass|skip)\) /.test(line))
    .join("\n");
}
