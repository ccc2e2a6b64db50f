/** Where the peers from npm are kept: outside the clone, in a folder that an ordinary user can read too. */
import { chmodSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** Packages with the versions that the published table was made with. */
const PACKAGES = [
  "@anthropic-ai/sandbox-runtime@0.0.83",
  "@landstrip/landstrip@0.18.38",
  "@landstrip/landstrip-linux-x64@0.19.2",
  "@openai/codex@0.169.0",
];

/** /var/cache for root, whose home others can't enter; else the user's own cache. */
export function peersFolder(): string {
  if (process.geteuid?.() === 0) return "/var/cache/cordon-conformance";
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "cordon-conformance");
}

/** Installs them with npm. Throws a sentence when npm fails. */
export function installPeers(): void {
  const folder = peersFolder();
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const argv = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", folder, ...PACKAGES];
  const npm = Bun.spawnSync(argv, { cwd: folder, stdout: "inherit", stderr: "inherit" });
  if (npm.exitCode !== 0) throw new Error(`npm could not install the peers into ${folder}; its message is above`);
}
