/** Finds the Rust compilers on this machine and says what each can build. Installs nothing (debian_packages.ts does). */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { ask } from "./run_tool.ts";

/** WebAssembly's target triple. */
export const WASM_TARGET = "wasm32-unknown-unknown";

/** Edition 2024 came with Rust 1.85: an older compiler can't read our manifests. */
const OLDEST_MINOR = 85;

/**
 * How a compiler gets WebAssembly's standard library: `target` has it prebuilt, `build_std` has its source and a linker
 * and compiles it along (first time 45 s to 2.5 min), `none` can't.
 */
export type WasmSupport = { how: "target" } | { how: "build_std"; linker: string } | { how: "none"; lacks: string };

/** One compiler. `version` is rustc's whole first line; `fmt` and `clippy` tell if those tools stand beside it. */
export type Rust = {
  cargo: string;
  rustc: string;
  version: string;
  wasm: WasmSupport;
  fmt: boolean;
  clippy: boolean;
};

/** All usable compilers: the one on PATH first, then rustup's usual folder, then the system's. */
export function findRust(): Rust[] {
  const onPath = Bun.which("rustc");
  const folders = [onPath === null ? undefined : dirname(onPath), join(homedir(), ".cargo", "bin"), "/usr/bin"];
  const distinct = [...new Set(folders.filter((folder) => folder !== undefined))];
  return distinct.map(inspect).filter((rust) => rust !== undefined);
}

/** Environment for cargo that makes it use this compiler and these flags, whatever the user's settings say. */
export function cargoEnv(rust: Rust, flags: string[], targetFolder: string): Record<string, string | undefined> {
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  // Panic messages hold source paths: without the remap the product would carry the builder's home folder.
  const all = [...flags, `--remap-path-prefix=${cargoHome}=cargo`];
  return {
    RUSTC: rust.rustc,
    RUSTFLAGS: undefined,
    CARGO_ENCODED_RUSTFLAGS: all.join("\x1f"),
    CARGO_TARGET_DIR: targetFolder,
    CARGO_TERM_COLOR: "never",
    CARGO_TERM_PROGRESS_WHEN: "never",
    RUSTC_WRAPPER: "",
  };
}

function inspect(folder: string): Rust | undefined {
  const rustc = join(folder, "rustc");
  const cargo = join(folder, "cargo");
  if (!existsSync(rustc) || !existsSync(cargo)) return undefined;
  const version = ask([rustc, "--version"]);
  const sysroot = ask([rustc, "--print", "sysroot"]);
  const minor = Number(version?.match(/^rustc 1\.(\d+)\./)?.[1] ?? 0);
  if (version === undefined || sysroot === undefined || minor < OLDEST_MINOR) return undefined;
  return {
    cargo,
    rustc,
    version,
    wasm: wasmSupport(sysroot),
    fmt: existsSync(join(sysroot, "bin", "rustfmt")),
    clippy: existsSync(join(sysroot, "bin", "cargo-clippy")),
  };
}

function wasmSupport(sysroot: string): WasmSupport {
  const prebuilt = join(sysroot, "lib", "rustlib", WASM_TARGET, "lib");
  if (existsSync(prebuilt) && readdirSync(prebuilt).some((name) => name.startsWith("libstd-")))
    return { how: "target" };
  if (!existsSync(join(sysroot, "lib", "rustlib", "src", "rust", "library", "std", "Cargo.toml"))) {
    return { how: "none", lacks: `target ${WASM_TARGET} or the source of std` };
  }
  const linker = ["wasm-ld-19", "wasm-ld"].map((name) => Bun.which(name)).find((path) => path !== null);
  return linker === undefined ? { how: "none", lacks: "wasm-ld-19" } : { how: "build_std", linker };
}
