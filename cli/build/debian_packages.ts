/** Installs Debian packages that a build or test step needs, when that is possible; says exactly what to type when not. */
import { BuildError, say } from "./progress.ts";
import { runTool } from "./run_tool.ts";

/** Whether packages can be installed here, and if not, why. */
export type AptState = { usable: true } | { usable: false; why: string };

/** Looks only: apt-get exists and we are root. */
export function aptState(): AptState {
  if (Bun.which("apt-get") === null) return { usable: false, why: "there is no apt-get" };
  if (process.getuid?.() !== 0) return { usable: false, why: "not root" };
  return { usable: true };
}

/** Installs the packages. Throws a BuildError with the command to type when it can't, or when apt-get fails. */
export async function installPackages(names: string[], purpose: string): Promise<void> {
  const state = aptState();
  if (!state.usable) {
    throw new BuildError(
      `Missing for ${purpose}: ${names.join(" ")}; they can't be installed from here: ${state.why}.\n` +
        `Install them and start again: sudo apt-get update && sudo apt-get install --no-install-recommends ${names.join(" ")}`,
    );
  }
  say(`        installing ${names.join(" ")}`);
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await runTool({ what: "apt-get update", argv: ["apt-get", "update", "-q"], env });
  await runTool({
    what: "apt-get install",
    // Without leave to remove anything: a package of ours that conflicts with one of the user's fails and says so.
    argv: ["apt-get", "install", "-q", "-y", "--no-install-recommends", "--no-remove", ...names],
    env,
  });
}
