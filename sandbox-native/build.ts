/**
 * Builds the launcher for this machine as one static executable and writes it for embedding:
 * `core/exec/generated/launcher.bin`, and `launcher.ts` with its size and SHA-256; and the front of the executable, `front.bin`
 * beside them. Alone: `bun sandbox-native/build.ts`.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashInputs, isFresh, type Made, ROOT, targetFolder, writeStamp } from "../cli/build/cache.ts";
import { BuildError, say, type StepEnd } from "../cli/build/progress.ts";
import { ensureRust } from "../cli/build/rust_setup.ts";
import { cargoEnv, type Rust } from "../cli/build/rust_toolchain.ts";
import { runTool } from "../cli/build/run_tool.ts";

const WORKSPACE = join(ROOT, "sandbox-native");
const GENERATED = join(ROOT, "core", "exec", "generated");

/**
 * Static: it runs inside views that hold no C library, and no LD_PRELOAD or library path can reach it. Stripped: it is
 * written to the user's cache and mapped at each start.
 */
const RUST_FLAGS = ["-Ctarget-feature=+crt-static", "-Cstrip=symbols"];

/** A segment at an address of its own, without any library (`front/front.ld`). */
const FRONT_FLAGS = [
  "-Crelocation-model=static",
  "-Cstrip=symbols",
  ...["-nostartfiles", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=none"].map((flag) => `-Clink-arg=${flag}`),
  `-Clink-arg=-Wl,-T,${join(WORKSPACE, "front", "front.ld")}`,
];

/** glibc and not musl: its target is there wherever Rust is, from rustup and from Debian alike. */
const TARGETS: Partial<Record<string, string>> = {
  x64: "x86_64-unknown-linux-gnu",
  arm64: "aarch64-unknown-linux-gnu",
};

/** Builds the launcher when its sources or the compiler changed. `skipped` while the crate does not exist. */
export async function buildLauncher(rust: Rust, lock: "locked" | "free"): Promise<StepEnd> {
  if (!existsSync(join(WORKSPACE, "linux", "Cargo.toml"))) {
    return { state: "skipped", note: "there is no crate sandbox-native/linux yet" };
  }
  const made = whatIsMade(rust);
  if (isFresh(made)) return { state: "fresh" };
  const inputs = hashInputs(made);
  const bytes = readFileSync(
    await compile(rust, lock, { name: "cordon-launcher", flags: RUST_FLAGS, args: ["--package=linux"] }),
  );
  const front = readFileSync(
    await compile(rust, lock, {
      name: "cordon-front",
      flags: FRONT_FLAGS,
      // Alone: together with the others it would get their standard library.
      args: ["--package=front", "--features=freestanding"],
    }),
  );
  mkdirSync(GENERATED, { recursive: true });
  put("launcher.bin", bytes);
  put("launcher.ts", describe(bytes));
  put("front.bin", front);
  writeStamp(made, inputs);
  return { state: "built", note: `${Math.round(bytes.length / 1024)} KB` };
}

function whatIsMade(rust: Rust): Made {
  return {
    step: "launcher",
    inputs: ["sandbox-native", "cli/build/rust_toolchain.ts"],
    facts: [rust.version, process.arch],
    outputs: ["launcher.bin", "launcher.ts", "front.bin"].map((name) => `core/exec/generated/${name}`),
  };
}

/** One executable: `args` say in which package it is. */
type Program = { name: string; flags: string[]; args: string[] };

/** Returns the path of the executable that cargo made. */
async function compile(rust: Rust, lock: "locked" | "free", program: Program): Promise<string> {
  const triple = TARGETS[process.arch];
  if (triple === undefined)
    throw new BuildError(
      `The launcher is built for ${Object.keys(TARGETS).join(" and ")}; this machine is ${process.arch}`,
    );
  const target = targetFolder(`native-${rust.version}`);
  await runTool({
    what: `cargo build ${program.name}`,
    argv: [
      rust.cargo,
      "build",
      "--release",
      `--bin=${program.name}`,
      ...program.args,
      // With a target named, build scripts and macros are built without our flags; a static macro could not be loaded.
      `--target=${triple}`,
      ...(lock === "locked" ? ["--locked"] : []),
    ],
    cwd: WORKSPACE,
    env: cargoEnv(rust, program.flags, target),
  });
  return join(target, triple, "release", program.name);
}

function describe(bytes: Uint8Array): string {
  return `/** Made by sandbox-native/build.ts. Do not edit. */
import launcher from "./launcher.bin" with { type: "file" };

/** Where the launcher's bytes can be read: a file of the source tree, or one inside the compiled executable. */
export const LAUNCHER_FILE: string = launcher;

/** SHA-256 of those bytes, as 64 hexadecimal digits. */
export const LAUNCHER_SHA256 = "${createHash("sha256").update(bytes).digest("hex")}";

/** Number of those bytes. */
export const LAUNCHER_SIZE_BYTES = ${bytes.length};
`;
}

/** Renamed into place, so that a build that is stopped leaves no half-written launcher. */
function put(name: string, content: Uint8Array | string): void {
  const path = join(GENERATED, name);
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

if (import.meta.main) {
  const { native } = await ensureRust();
  const end = await buildLauncher(native, "free");
  say(`launcher: ${end.state}${end.note === undefined ? "" : ` (${end.note})`}`);
}
