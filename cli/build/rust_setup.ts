/** Makes sure that there is a Rust compiler for WebAssembly and one for this machine, installing only what is missing. */
import { installPackages } from "./debian_packages.ts";
import { BuildError } from "./progress.ts";
import { findRust, type Rust, WASM_TARGET } from "./rust_toolchain.ts";
import { tryTool } from "./run_tool.ts";

/** Debian's own Rust, new enough, with the source of std and the linker that WebAssembly needs. */
const DEBIAN_RUST = ["rustc-web", "cargo-web", "rust-web-src", "lld-19"];

/** rustc links programs for this machine with the system's C compiler driver. */
const DEBIAN_LINKER = ["gcc", "libc6-dev"];

/** The compilers to use, and what was installed to get them. */
export type RustPair = { wasm: Rust; native: Rust; installed: string[] };

/** Finds both compilers; installs them when missing and possible. Throws a BuildError that says what to do otherwise. */
export async function ensureRust(): Promise<RustPair> {
  const ready = choose(findRust());
  if (ready !== undefined && hasLinker()) return { ...ready, installed: [] };
  if (ready === undefined) await addTarget();
  const afterAdd = choose(findRust());
  const wanted = [...(afterAdd === undefined ? DEBIAN_RUST : []), ...(hasLinker() ? [] : DEBIAN_LINKER)];
  if (wanted.length > 0) await installPackages(wanted, "building the WebAssembly components and the launcher");
  const found = choose(findRust());
  if (found !== undefined && hasLinker()) return { ...found, installed: wanted };
  throw new BuildError(
    `No Rust compiler here can build for ${WASM_TARGET}.\n` +
      `Wanted: rustup with that target (rustup target add ${WASM_TARGET}), or Debian's ${DEBIAN_RUST.join(" ")}, and a C linker (${DEBIAN_LINKER.join(" ")}).`,
  );
}

/** A prebuilt target beats compiling std; for this machine the compiler on PATH comes first. */
function choose(all: Rust[]): Omit<RustPair, "installed"> | undefined {
  const wasm = all.find((rust) => rust.wasm.how === "target") ?? all.find((rust) => rust.wasm.how === "build_std");
  const native = all[0];
  return wasm === undefined || native === undefined ? undefined : { wasm, native };
}

function hasLinker(): boolean {
  return Bun.which("cc") !== null;
}

/** rustup may know the target and be able to fetch it. It may also be cut off: then the next way is tried. */
async function addTarget(): Promise<void> {
  const rustup = Bun.which("rustup");
  if (rustup === null) return;
  await tryTool({ what: "rustup target add", argv: [rustup, "target", "add", WASM_TARGET], timeoutMs: 120_000 });
}
