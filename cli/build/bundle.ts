/** cli/main.ts and all that it embeds → dist/cordon, one executable. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { READ_VARIABLES } from "@cordon/core/config/run_key";
import { hashInputs, isFresh, type Made, ROOT, writeStamp } from "./cache.ts";
import { addFront } from "./front.ts";
import type { StepEnd } from "./progress.ts";
import { runTool } from "./run_tool.ts";

/** What `bun build` is told; the measurements build their empty program with the same. */
export const FLAGS = [
  "--compile",
  // Parsed and compiled at build time: start-up takes half as long as from source (core/adr/0002-toolchain.md).
  "--minify",
  "--bytecode",
  "--format=esm",
  // In one single module, what a lazily loaded command imports from node:* is hoisted to the top and loaded at every
  // start: node:crypto and node:fs double the time of `--version`. As chunks of their own they cost nothing.
  "--splitting",
  // A wrapped command's start is code that runs once: compiling it to machine code as it warms up costs a tenth of the time of
  // `cordon run -- true`. Every other command goes back to the normal policy first (cli/main.ts).
  "--compile-jit-policy=100",
  // Cordon runs in folders that an agent writes. Bun's runtime would read these files there, and a preload in bunfig.toml
  // is code that runs before ours, outside the sandbox.
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-tsconfig",
  "--no-compile-autoload-package-json",
];

/** Compiles the executable when something in it changed. */
export async function bundle(): Promise<StepEnd> {
  if (!existsSync(join(ROOT, "cli", "main.ts"))) return { state: "skipped", note: "there is no cli/main.ts yet" };
  const made = whatIsMade();
  if (isFresh(made)) return { state: "fresh" };
  const inputs = hashInputs(made);
  // Bun leaves its unfinished file in the working folder when it is stopped; and a running dist/cordon can't be written to,
  // but can be replaced.
  const staging = join(ROOT, "dist", "new");
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  // Plans are kept for the executable that made them (core/version.ts).
  const build = inputs.slice(0, 16);
  const define = ["--define", `CORDON_BUILD=${JSON.stringify(build)}`];
  await runTool({
    what: "bun build",
    argv: [
      process.execPath,
      "build",
      ...FLAGS,
      ...define,
      join(ROOT, "cli", "main.ts"),
      // Started as threads of their own, by their paths (core/exec/search/worker_set.ts, index/search_index.ts).
      join(ROOT, "core", "exec", "search", "worker.ts"),
      join(ROOT, "core", "exec", "search", "index", "index_worker.ts"),
      "--outfile",
      join(staging, "cordon"),
    ],
    cwd: staging,
  });
  if (process.platform === "linux") {
    const generated = (name: string) => readFileSync(join(ROOT, "core", "exec", "generated", name));
    const launcherSha256 = createHash("sha256").update(generated("launcher.bin")).digest("hex");
    addFront(join(staging, "cordon"), generated("front.bin"), { build, launcherSha256, read: READ_VARIABLES });
  }
  renameSync(join(staging, "cordon"), join(ROOT, "dist", "cordon"));
  rmSync(staging, { recursive: true });
  writeStamp(made, inputs);
  return { state: "built", note: `${Math.round(statSync(join(ROOT, "dist", "cordon")).size / 1e6)} MB` };
}

function whatIsMade(): Made {
  return {
    step: "executable",
    inputs: ["cli", "core", "core/engine/generated", "core/exec/generated", "package.json", "package-lock.json"],
    facts: [Bun.version],
    outputs: ["dist/cordon"],
  };
}
