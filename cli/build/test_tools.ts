/** Programs that tests and measurements start. Debian's package of each is installed when it is missing and we may. */
import { aptState, installPackages } from "./debian_packages.ts";
import type { StepEnd } from "./progress.ts";

/** Executable → the Debian package that holds it. */
export type Tools = Record<string, string>;

/** What the end-to-end tests run inside the sandbox or hold results up against. */
export const testTools: Tools = {
  git: "git",
  make: "make",
  gcc: "gcc",
  python3: "python3",
  curl: "curl",
  bwrap: "bubblewrap",
  rg: "ripgrep",
  setpriv: "util-linux",
  unshare: "util-linux",
  pip3: "python3-pip",
  rsync: "rsync",
  sqlite3: "sqlite3",
  strace: "strace",
  tmux: "tmux",
};

/** What `npm run kernels` boots with. */
export const kernelTools: Tools = { "qemu-system-x86_64": "qemu-system-x86", busybox: "busybox-static", gcc: "gcc" };

/** The peers of `npm run bench`. */
export const benchTools: Tools = { bwrap: "bubblewrap", rg: "ripgrep" };

/** Installs what is missing. Where that is impossible the tests that need it skip themselves, and the note says which programs those are. */
export async function installTools(tools: Tools): Promise<StepEnd> {
  const missing = Object.keys(tools).filter((name) => Bun.which(name) === null);
  if (missing.length === 0) return { state: "fresh" };
  const packages = [...new Set(missing.map((name) => tools[name]).filter((name) => name !== undefined))];
  const apt = aptState();
  if (!apt.usable) {
    return {
      state: "skipped",
      note: `${missing.join(", ")} missing and ${apt.why}: what needs them is skipped (Debian: ${packages.join(" ")})`,
    };
  }
  await installPackages(packages, "the tests");
  return { state: "built", note: `installed ${packages.join(" ")}` };
}
