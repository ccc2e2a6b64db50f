/** `bun cli/build/setup.ts TARGET`: runs the steps that targets.json lists for the target, after bootstrap.mjs did the first. */
import { buildLauncher } from "../../sandbox-native/build.ts";
import { runGuest } from "../../test/kernel/run_guest.ts";
import { buildComponent } from "../../wasm/build.ts";
import { bundle } from "./bundle.ts";
import { formatAndLint, types } from "./check_sources.ts";
import { bunTests, endToEndFolders, type Tally } from "./check_tests.ts";
import { checkRust } from "./check_rust.ts";
import { BuildError, Progress, type StepEnd } from "./progress.ts";
import { installPythonTools } from "./python_tools.ts";
import { FD, installSearchTools, RIPGREP } from "./search_tools.ts";
import { ensureRust, type RustPair } from "./rust_setup.ts";
import { runProgram } from "./run_program.ts";
import targets from "./targets.json";
import { benchTools, installTools, kernelTools, testTools } from "./test_tools.ts";

/** The steps bootstrap.mjs did before this program could start. */
const DONE_BEFORE = 1;

/** What steps hand on to later ones. `rust` is there after its step; `tallies` collects every check and test. */
type Shared = { rust?: RustPair; tallies: Tally[]; args: string[] };

type Step = { title: string; work: (shared: Shared) => Promise<StepEnd> | StepEnd };

type StepName = Exclude<(typeof targets)[keyof typeof targets][number], "packages">;

const steps: Record<string, Step> = {
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
  end_to_end_tests: { title: "end-to-end tests", work: counted(() => bunTests("end-to-end tests", endToEndFolders())) },
  kernel_tools: { title: "programs to boot another kernel", work: () => installTools(kernelTools) },
  kernels: { title: "an older kernel", work: counted(runGuest) },
  soak: {
    title: "long tests",
    work: counted(() =>
      bunTests("long tests", ["test/soak"], { timeoutMs: 60 * 60_000, env: { CORDON_SOAK: "long" } }),
    ),
  },
  conformance: {
    title: "conformance of the sandboxes here",
    work: (shared) => runProgram("test/conformance/main.ts", shared.args),
  },
  bench: { title: "measurements", work: (shared) => runProgram("test/bench/bench.ts", shared.args) },
} satisfies Record<StepName, Step>;

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

async function main(target: string, args: string[]): Promise<number> {
  const names: string[] | undefined = Object.entries(targets).find(([name]) => name === target)?.[1];
  if (names === undefined)
    throw new BuildError(`Unknown target "${target}": choose one of ${Object.keys(targets).join(", ")}`);
  const progress = new Progress(DONE_BEFORE, names.length);
  const shared: Shared = { tallies: [], args };
  for (const name of names.slice(DONE_BEFORE)) {
    const step = steps[name];
    if (step === undefined) throw new Error(`targets.json names the step "${name}", which setup.ts does not know`);
    await progress.run(step.title, () => step.work(shared));
  }
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
