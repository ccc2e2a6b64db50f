/** cargo fmt, clippy and test for one Rust workspace. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, targetFolder } from "./cache.ts";
import { add, type Tally } from "./check_tests.ts";
import type { RustPair } from "./rust_setup.ts";
import { cargoEnv, findRust, type Rust } from "./rust_toolchain.ts";
import { tryTool } from "./run_tool.ts";

type Check = { name: string; has: (rust: Rust) => boolean; args: string[] };

const CHECKS: Check[] = [
  { name: "cargo fmt", has: (rust) => rust.fmt, args: ["fmt", "--all", "--check", "--", "--color=never"] },
  {
    name: "cargo clippy",
    has: (rust) => rust.clippy,
    args: ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
  },
  { name: "cargo test", has: () => true, args: ["test", "--workspace", "--locked"] },
];

/** Runs what the compilers here can run. rustfmt and clippy come with rustup only: without them the tally says so. */
export async function checkRust(workspace: "wasm" | "sandbox-native", rust: RustPair): Promise<Tally> {
  const tally: Tally = { name: `Rust checks in ${workspace}/`, passed: 0, failed: 0, skipped: [], output: "" };
  if (!existsSync(join(ROOT, workspace, "Cargo.toml"))) {
    return { ...tally, skipped: ["there is no workspace yet"] };
  }
  for (const check of CHECKS) {
    const able = [rust.native, ...findRust()].find((one) => check.has(one));
    if (able === undefined) tally.skipped.push(`${check.name}: no compiler here has it (it comes with rustup)`);
    else add(tally, await run(workspace, check, able));
  }
  return tally;
}

async function run(workspace: string, check: Check, rust: Rust): Promise<Pick<Tally, "passed" | "failed" | "output">> {
  // A folder of its own: cargo locks it, and the other workspace is checked at the same time.
  const target = targetFolder(`check-${workspace}-${rust.version}`);
  const end = await tryTool({
    what: `${check.name} ${workspace}`,
    argv: [rust.cargo, ...check.args],
    cwd: join(ROOT, workspace),
    env: cargoEnv(rust, [], target),
  });
  const tests = [...end.output.matchAll(/^test result: .*? (\d+) passed; (\d+) failed;/gm)];
  const sum = (group: number) => tests.reduce((total, match) => total + Number(match[group]), 0);
  const failed = Math.max(sum(2), end.exitCode === 0 ? 0 : 1);
  const passed = tests.length > 0 ? sum(1) : 1 - failed;
  return { passed, failed, output: failed > 0 ? `${check.name} in ${workspace}/\n${end.output}` : "" };
}
