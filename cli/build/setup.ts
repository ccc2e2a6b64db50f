/** `bun cli/build/setup.ts TARGET`: runs the steps that targets.json lists for the target, after bootstrap.mjs did the first. */
import { buildLauncher } from "../../sandbox-native/build.ts";
import { runGuest } from "../../test/kernel/run_guest.ts";
import { buildComponent } from "../../wasm/build.ts";
import { bundle } from "./bundle.ts";
import { formatAndLint, types } from "./check_sources.ts";
import { bunTests, endToEndTests, type Tally } from "./check_tests.ts";
import { checkRust } from "./check_rust.ts";
import { BuildError, Progress, type StepEnd } from "./progress.ts";
import { installPythonTools } from "./python_tools.ts";
import { FD, installSearchTools, RIPGREP } from "./search_tools.ts";
import { ensureRust, type RustPair } from "./rust_setup.ts";
import { runProgram } from "./run_program.ts";
import targets from "./targets.json";
import { benchTools, installTools, kernelTools, testTools } from "./test_tools.ts";

/** Two compilers keep two processors busy: most of one's time is the linker's or an optimizer's, which use one alone. */
const SIDE_BY_SIDE = 2;

/** The steps bootstrap.mjs did before this program could start. */
const DONE_BEFORE = 1;

/** What steps hand on to later ones. `rust` is there after its step; `tallies` collects every check and test. */
type Shared = { rust?: RustPair; tallies: Tally[]; args: string[] };

type Step = { title: string; work: (shared: Shared) => Promise<StepEnd> | StepEnd };

/** Tests of searches that have a long form beside the short one of `npm test`. */
const LONG_SEARCHES = ["test/search/freshness.test.ts", "test/search/index_memory.test.ts"];

/** Names in a list of their own are steps that do not wait for each other. */
type Entry = string | string[];

const steps: Readonly<Record<string, Step>> = {
  rust: { title: "Rust compilers", work: findCompilers },
  policy: {
    title: "policy engine (WebAssembly)",
    work: (shared) => buildComponent("policy", rustOf(shared).wasm, "locked"),
  },
  search: {
    title: "search engine (WebAssembly)",
    work: (shared) => buildComponent("search", rustOf(shared).wasm, "locked"),
  },
  launcher: { title: "launcher", work: (shared) => buildLauncher(rustOf(shared).native, "locked") },
  executable: { title: "dist/cordon", work: bundle },
  test_tools: { title: "programs the tests run", work: () => installTools(testTools) },
  python_tools: { title: "Python packages the tests run", work: installPythonTools },
  search_tools: {
    title: "search programs to compare with",
    work: (shared) => installSearchTools([RIPGREP, FD], rustOf(shared).native),
  },
  bench_tools: { title: "programs to measure against", work: () => installTools(benchTools) },
  format_and_lint: { title: "format and lint", work: counted(formatAndLint) },
  types: { title: "types", work: counted(types) },
  unit_tests: { title: "unit tests", work: counted(() => bunTests("unit tests", ["core", "cli", "test/bench"])) },
  gates: { title: "gates", work: counted(() => bunTests("gates", ["test/gates"])) },
  rust_wasm: { title: "Rust checks in wasm/", work: counted((shared) => checkRust("wasm", rustOf(shared))) },
  rust_sandbox_native: {
    title: "Rust checks in sandbox-native/",
    work: counted((shared) => checkRust("sandbox-native", rustOf(shared))),
  },
  end_to_end_tests: { title: "end-to-end tests", work: counted(endToEndTests) },
  kernel_tools: { title: "programs to boot another kernel", work: () => installTools(kernelTools) },
  kernels: { title: "an older kernel", work: counted(runGuest) },
  soak: {
    title: "long tests",
    work: counted(() =>
      bunTests("long tests", ["test/soak", ...LONG_SEARCHES], {
        timeoutMs: 60 * 60_000,
        sideBySide: 1,
        env: { CORDON_SOAK: "long" },
      }),
    ),
  },
  conformance: {
    title: "conformance of the sandboxes here",
    work: (shared) => runProgram("test/conformance/main.ts", shared.args),
  },
  bench: { title: "measurements", work: (shared) => runProgram("test/bench/bench.ts", shared.args) },
};

async function findCompilers(shared: Shared): Promise<StepEnd> {
  shared.rust = await ensureRust();
  const { wasm, installed } = shared.rust;
  const note = `${wasm.version}${wasm.wasm.how === "build_std" ? ", with std built from source" : ""}`;
  return installed.length > 0
    ? { state: "built", note: `${note}; installed ${installed.join(" ")}` }
    : { state: "fresh", note };
}

/** A check that fails is counted and its output shown, and the next one runs: one run tells all that is wrong. */
function counted(work: (shared: Shared) => Promise<Tally>): Step["work"] {
  return async (shared) => {
    const tally = await work(shared);
    shared.tallies.push(tally);
    if (tally.failed > 0) process.stderr.write(`\n${tally.output.trimEnd()}\n`);
    const counts = [`${tally.passed} passed, ${tally.failed} failed`, ...tally.skipped].join("; ");
    return { state: "built", note: counts };
  };
}

function rustOf(shared: Shared): RustPair {
  if (shared.rust === undefined)
    throw new Error("Step order in targets.json is wrong: rust must come before what it compiles");
  return shared.rust;
}

/** Prints the closing line over all checks and tests on stdout. Returns the exit code. */
function close(tallies: Tally[]): number {
  if (tallies.length === 0) return 0;
  const sum = (of: (tally: Tally) => number) => tallies.reduce((total, tally) => total + of(tally), 0);
  const skipped = tallies.flatMap((tally) => tally.skipped.map((reason) => `Skipped in ${tally.name}: ${reason}`));
  const failed = sum((tally) => tally.failed);
  for (const line of skipped) process.stdout.write(`${line}\n`);
  process.stdout.write(`${sum((tally) => tally.passed)} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

/** Runs steps of one entry, at most two at a time. The first that fails ends all, when those that run have ended. */
async function runEntry(entry: Entry, progress: Progress, shared: Shared): Promise<void> {
  const waiting = [entry].flat().map(stepOf);
  const runNext = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const { title, work } = step;
      await progress
        .run(title, () => work(shared))
        .catch((error: unknown) => {
          waiting.length = 0;
          throw error;
        });
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: SIDE_BY_SIDE }, runNext));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

function stepOf(name: string): Step {
  const step = steps[name];
  if (step === undefined) throw new Error(`targets.json names the step "${name}", which setup.ts does not know`);
  return step;
}

async function main(target: string, args: string[]): Promise<number> {
  const entries: Entry[] | undefined = Object.entries(targets).find(([name]) => name === target)?.[1];
  if (entries === undefined)
    throw new BuildError(`Unknown target "${target}": choose one of ${Object.keys(targets).join(", ")}`);
  const progress = new Progress(DONE_BEFORE, entries.flat().length);
  const shared: Shared = { tallies: [], args };
  for (const entry of entries.slice(DONE_BEFORE)) await runEntry(entry, progress, shared);
  return close(shared.tallies);
}

try {
  const [target = "", ...args] = process.argv.slice(2);
  process.exitCode = await main(target, args);
} catch (error) {
  if (!(error instanceof BuildError)) throw error;
  process.stderr.write(`cordon: ${error.message}\n`);
  process.exitCode = 1;
}
