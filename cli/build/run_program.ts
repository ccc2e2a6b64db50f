/** `npm run bench` and `npm run conformance`: hand the terminal to a program of test/ that needs the built executable. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./cache.ts";
import { BuildError, type StepEnd } from "./progress.ts";

/** Runs the program with the rest of the command line. Throws a BuildError when it fails or there is no executable. */
export async function runProgram(path: string, args: string[]): Promise<StepEnd> {
  if (!existsSync(join(ROOT, "dist", "cordon"))) throw new BuildError("There is no dist/cordon to try");
  process.stderr.write("\n");
  const program = Bun.spawn([process.execPath, "--no-env-file", join(ROOT, path), ...args], {
    cwd: ROOT,
    stdio: ["inherit", "inherit", "inherit"],
  });
  const exitCode = await program.exited;
  if (exitCode !== 0) throw new BuildError(`${path} ended with exit code ${exitCode}`);
  return { state: "built" };
}
