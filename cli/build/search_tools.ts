/** Search programs that tests and measurements hold results up against, built from pinned source; they lie in the cache outside the clone. */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./cache.ts";
import type { StepEnd } from "./progress.ts";
import { tryTool } from "./run_tool.ts";
import { cargoEnv, type Rust } from "./rust_toolchain.ts";

/** A crate with a program, and the folder in the cache that holds it as bin/PROGRAM. */
export type SearchTool = { crate: string; version: string; folder: string };

/** Debian's is years older, and its answers differ. */
export const RIPGREP: SearchTool = { crate: "ripgrep", version: "15.2.0", folder: "ripgrep-15.2.0" };

/** For names only. */
export const FD: SearchTool = { crate: "fd-find", version: "10.5.0", folder: "fd-find-10.5.0" };

/** Builds take a minute or two; without the registry they end at once. */
const TIMEOUT_MS = 8 * 60_000;

/** Builds what is missing. Where that is impossible, the tests that need it skip themselves. */
export async function installSearchTools(tools: readonly SearchTool[], rust: Rust): Promise<StepEnd> {
  const missing = tools.filter(({ folder }) => !existsSync(join(cacheFolder(), folder)));
  if (missing.length === 0) return { state: "fresh" };
  const failed: string[] = [];
  for (const tool of missing) if (!(await install(tool, rust))) failed.push(`${tool.crate} ${tool.version}`);
  if (failed.length === 0) return { state: "built", note: missing.map(({ folder }) => folder).join(" ") };
  return { state: "skipped", note: `cargo can't build ${failed.join(", ")}: what needs them is skipped` };
}

async function install({ crate, version, folder }: SearchTool, rust: Rust): Promise<boolean> {
  const place = join(cacheFolder(), folder);
  const fresh = `${place}.${process.pid}`;
  const { exitCode } = await tryTool({
    what: `cargo install ${crate}`,
    argv: [rust.cargo, "install", "--quiet", "--locked", `--version=${version}`, `--root=${fresh}`, crate],
    env: cargoEnv(rust, [], join(cacheFolder(), `${folder}.target`)),
    timeoutMs: TIMEOUT_MS,
  });
  rmSync(join(cacheFolder(), `${folder}.target`), { recursive: true, force: true });
  if (exitCode === 0) renameSync(fresh, place);
  else rmSync(fresh, { recursive: true, force: true });
  return exitCode === 0;
}
