import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runCordon, SYSTEM_PATH, type Surroundings } from "../support/run_cordon.ts";
import { giveTo, makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { makeRepository } from "../support/scratch_repository.ts";
import { type Cell, CELLS, findCell, type FoundCell, sharedCordon } from "../support/tiers.ts";

/** One piece of everyday work: a script that must end well in the workspace, and what it prints. */
export type Work = {
  name: string;
  needs: readonly string[];
  script: string;
  prints: RegExp;
  /** Files of the workspace, written on the host beforehand. */
  files?: Readonly<Record<string, string>>;
  /** The workspace is a git repository with one commit. */
  repository?: "committed";
  flags?: readonly string[];
  /** What only namespaces can give; without them the work is refused, and the reason is said. */
  rests?: keyof typeof REFUSED_WITHOUT;
  /** Tries at places that are closed, which the program does well without, and which are told all the same. */
  refusals?: "harmless";
  /** Further work on the host before the run; a string is the reason why it can't be run here. */
  prepare?: (scratch: Scratch) => string | undefined;
};

/** How a run without namespaces is refused what it rests on. */
const REFUSED_WITHOUT = {
  private_tmp: { flags: [], says: /^cordon: blocked write \/tmp\/.*--allow-write=\/tmp/m, state: "told to allow" },
} as const;

/** Folders with programs that the system's PATH does not name. */
const MORE_FOLDERS = ["/usr/local/go/bin", ...cargoFolders()];

/** The folder of the compiler itself: rustup's names need a home folder with its settings. */
function cargoFolders(): string[] {
  const rustc = Bun.which("rustc");
  if (rustc === null) return [];
  const asked = Bun.spawnSync([rustc, "--print", "sysroot"]);
  return asked.success ? [join(asked.stdout.toString().trim(), "bin")] : [];
}

/** The path of a program; undefined where there is none. */
export function findProgram(program: string): string | undefined {
  return Bun.which(program, { PATH: [SYSTEM_PATH, ...MORE_FOLDERS].join(delimiter) }) ?? undefined;
}

type Found = Extract<FoundCell, { found: true }>;

/** What stands in the table for each piece of work and each cell. */
const table = new Map<string, string[]>();

/** Runs each piece of work in each cell of the machine, in a fresh workspace, and prints a table of them at the end. */
export function describeWorks(works: readonly Work[]): void {
  const shared = mkdtempSync(join(tmpdir(), "e2e-cordon-bin-"));
  const binary = sharedCordon(shared);
  afterAll(() => {
    rmSync(shared, { recursive: true, force: true });
    const rows = [...table].map(([name, states]) => `${name.padEnd(44)} ${states.map((s) => s.padEnd(18)).join(" ")}`);
    const heads = CELLS.map(({ user, namespaces }) => `${user} ${namespaces}`.padEnd(18)).join(" ");
    console.log(["", `${"(with or without user namespaces)".padEnd(44)} ${heads}`, ...rows].join("\n"));
  });
  for (const [at, cell] of CELLS.entries()) {
    const found = findCell(cell);
    const title = `as ${cell.user === "root" ? "root" : "an ordinary user"} ${cell.namespaces} user namespaces`;
    describe(title, () => {
      for (const work of works) describeWork(work, { cell, at, found, binary });
    });
  }
}

type Place = { cell: Cell; at: number; found: FoundCell; binary: string };

function describeWork(work: Work, { cell, at, found, binary }: Place): void {
  const note = (state: string) => {
    const states = table.get(work.name) ?? CELLS.map(() => "-");
    states[at] = state;
    table.set(work.name, states);
  };
  const why = found.found ? reasonToSkip(work, found) : found.why;
  if (why !== undefined || !found.found) {
    note("skipped");
    return void test.skip(`E4 ${work.name}: ${why}`, () => {});
  }
  if (work.rests && cell.namespaces === "without") {
    describeRefused(work, { rests: work.rests, found, binary, note });
    return;
  }
  test(`E4 ${work.name} works`, async () => {
    note("FAILED");
    using place = workspaceFor(work, found);
    const end = await runWork(work, { scratch: place.scratch, wrap: found.wrap, binary });
    expect({ code: end.code, output: end.stdout + end.stderr }).toMatchObject({ code: 0 });
    expect(end.stdout).toMatch(work.prints);
    if (work.refusals === undefined) expect(end.stderr).not.toContain("cordon: blocked write");
    note("works");
  });
}

type Refused = { rests: keyof typeof REFUSED_WITHOUT; found: Found; binary: string; note: (state: string) => void };

/** The same work without namespaces. */
function describeRefused(work: Work, { rests, found, binary, note }: Refused): void {
  const { flags, says, state } = REFUSED_WITHOUT[rests];
  test(`E4 ${work.name} needs namespaces, and says so without them`, async () => {
    note("FAILED");
    using place = workspaceFor(work, found);
    const end = await runWork(work, { scratch: place.scratch, wrap: found.wrap, binary }, flags);
    expect(end.code).not.toBe(0);
    expect(end.stdout + end.stderr).toMatch(says);
    note(state);
  });
}

function runWork(work: Work, around: Surroundings, more: readonly string[] = []) {
  const folders = programsOf(work).map((program) => dirname(program));
  const path = [...new Set([...SYSTEM_PATH.split(delimiter), ...folders])].join(delimiter);
  // A toolchain is more than its programs: the folder that holds them is shown whole.
  const shown = folders.filter((folder) => folder !== "/bin" && !folder.startsWith("/usr/"));
  const reads = shown.flatMap((folder) => ["--allow-read", dirname(folder)]);
  const flags = [...reads, ...(work.flags ?? []), ...more];
  return runCordon(["run", ...flags, "--", "bash", "-c", `set -eo pipefail\n${work.script}`], {
    ...around,
    env: { PATH: path },
  });
}

/** The paths of the programs it needs, as far as they are there. */
function programsOf(work: Work): string[] {
  return work.needs.flatMap((program) => findProgram(program) ?? []);
}

function workspaceFor(work: Work, found: Found): { scratch: Scratch; [Symbol.dispose]: () => void } {
  const scratch = makeScratch();
  if (work.repository) makeRepository(scratch);
  for (const [name, text] of Object.entries(work.files ?? {})) {
    mkdirSync(dirname(join(scratch.work, name)), { recursive: true });
    writeFileSync(join(scratch.work, name), text);
  }
  work.prepare?.(scratch);
  if (found.uid !== process.geteuid?.()) giveTo(scratch.top, found.uid);
  return { scratch, [Symbol.dispose]: () => removeScratch(scratch) };
}

function reasonToSkip(work: Work, found: Found): string | undefined {
  const missing = work.needs.filter((program) => findProgram(program) === undefined);
  if (missing.length > 0) return `${missing.join(", ")} missing`;
  const closed = programsOf(work).filter(
    (path) => Bun.spawnSync(found.wrap(["test", "-x", path]), { env: { PATH: SYSTEM_PATH }, cwd: "/" }).exitCode !== 0,
  );
  if (closed.length > 0) return `${closed.join(", ")} can't be run by this user`;
  return work.prepare ? tryToPrepare(work.prepare) : undefined;
}

/** Prepared once for the answer alone: what is missing must be known before the test is named. */
function tryToPrepare(prepare: (scratch: Scratch) => string | undefined): string | undefined {
  const scratch = makeScratch();
  try {
    return prepare(scratch);
  } finally {
    removeScratch(scratch);
  }
}
