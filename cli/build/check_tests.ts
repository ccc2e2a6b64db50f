/** Runs groups of bun tests and counts them. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { listFiles, logFolder, ROOT } from "./cache.ts";
import { tryTool } from "./run_tool.ts";

/** What a group of checks came to. `skipped` holds sentences; `output` is shown when something failed. */
export type Tally = { name: string; passed: number; failed: number; skipped: string[]; output: string };

/** Much longer than any test should take: it only ends those that hang. */
const TEST_TIMEOUT_MS = 60_000;

/** A group that takes longer has hung outside any test: four times what the longest takes on two processors of their own. */
const GROUP_TIMEOUT_MS = 30 * 60_000;

/** Files run side by side, each in a global scope of its own: most tests wait for programs that use one processor. */
const SIDE_BY_SIDE = 2;

/** Tests that look at what is left on the whole machine, so no other may run beside them. */
const LOOK_AT_ALL = /^test\/soak\/|^test\/e2e\/(footprint|limits)\.test\.ts$/;

/** Folders of test/ that hold no end-to-end tests: gates run in `check`, bench measures, support is imported. */
const NOT_END_TO_END = new Set(["gates", "bench", "support", "node_modules"]);

/** How long a group may take, how many files run at a time, and what its tests find in their environment. */
type Group = { timeoutMs?: number; sideBySide?: number; env?: Record<string, string> };

/** The tests that drive the built executable: those that need the machine for themselves, then all others. */
export async function endToEndTests(): Promise<Tally> {
  const folders = readdirSync(join(ROOT, "test"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !NOT_END_TO_END.has(entry.name))
    .map((entry) => `test/${entry.name}`);
  const files = testsBelow(folders);
  const isAlone = (path: string) => LOOK_AT_ALL.test(path);
  const alone = await runFiles("end-to-end tests, one by one", files.filter(isAlone), { sideBySide: 1 });
  const tally = await runFiles(
    "end-to-end tests",
    files.filter((path) => !isAlone(path)),
  );
  add(tally, alone);
  tally.skipped.push(...alone.skipped);
  return tally;
}

/** Counts a part of a group's checks with the rest of them. */
export function add(tally: Tally, part: Pick<Tally, "passed" | "failed" | "output">): void {
  tally.passed += part.passed;
  tally.failed += part.failed;
  tally.output += part.output;
}

/** Runs every *.test.ts below the folders. No tests at all is no failure. */
export async function bunTests(name: string, folders: string[], group: Group = {}): Promise<Tally> {
  return await runFiles(name, testsBelow(folders), group);
}

/** Paths from the root of the clone. */
function testsBelow(folders: string[]): string[] {
  const files = folders.flatMap((folder) => listFiles(join(ROOT, folder)));
  return files.filter((path) => path.endsWith(".test.ts")).map((path) => relative(ROOT, path));
}

async function runFiles(name: string, files: string[], group: Group = {}): Promise<Tally> {
  if (files.length === 0) return { name, passed: 0, failed: 0, skipped: ["there are no tests yet"], output: "" };
  const report = join(logFolder(), `${name.replaceAll(/[^a-z0-9]+/gi, "_")}.xml`);
  mkdirSync(logFolder(), { recursive: true });
  rmSync(report, { force: true });
  const end = await tryTool({
    what: name,
    argv: [
      process.execPath,
      "test",
      `--timeout=${TEST_TIMEOUT_MS}`,
      `--parallel=${group.sideBySide ?? SIDE_BY_SIDE}`,
      "--reporter=junit",
      `--reporter-outfile=${report}`,
      ...files.map((path) => `./${path}`),
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
