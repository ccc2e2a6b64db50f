/** `npm run bench`: hands the terminal to the measurements in test/bench. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./cache.ts";
import { BuildError, type StepEnd } from "./progress.ts";

/** Runs test/bench/bench.ts with the rest of the command line. Throws a BuildError when it fails or there is nothing to measure. */
export async function runBench(args: string[]): Promise<StepEnd> {
  if (!existsSync(join(ROOT, "dist", "cordon"))) throw new BuildError("There is no dist/cordon to measure");
  process.stderr.write("\n");
  const bench = Bun.spawn([process.execPath, "--no-env-file", join(ROOT, "test", "bench", "bench.ts"), ...args], {
    cwd: ROOT,
    stdio: ["inherit", "inherit", "inherit"],
  });
  const exitCode = await bench.exited;
  if (exitCode !== 0) throw new BuildError(`The measurements ended with exit code ${exitCode}`);
  return { state: "built" };
}
