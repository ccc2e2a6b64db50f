/**
 * Rust → core module → component → JavaScript. For each component: cargo builds the crate for WebAssembly, wasm-opt
 * shrinks it, `componentNew` wraps it by the WIT type section that wit-bindgen put in, and jco's transpiler writes
 * `core/engine/generated/NAME.{js,d.ts,core.wasm}`. The core module is then split into two (parts/split.ts). Alone: `bun wasm/build.ts [policy|search …]`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { transpileBytes } from "@bytecodealliance/jco-transpile";
import { componentNew } from "@bytecodealliance/jco-transpile/wasm-tools";
import { hashInputs, isFresh, type Made, ROOT, targetFolder, writeStamp } from "../cli/build/cache.ts";
import { BuildError, say, type StepEnd } from "../cli/build/progress.ts";
import { ensureRust } from "../cli/build/rust_setup.ts";
import { cargoEnv, type Rust, WASM_TARGET } from "../cli/build/rust_toolchain.ts";
import { runTool } from "../cli/build/run_tool.ts";

/** The components, by the name of crate folder, WIT world and generated file. */
export const COMPONENTS = ["policy", "search"] as const;

/** One of our WebAssembly components. */
export type ComponentName = (typeof COMPONENTS)[number];

/** What a component may ask of the host: policy nothing, search the files of folders that the host opened for it. */
const MAY_IMPORT: Readonly<Record<ComponentName, readonly string[]>> = {
  policy: [],
  search: ["cordon:search/files", "cordon:search/folders"],
};

/** `locked` refuses to touch Cargo.lock (everybody's build); `free` lets cargo write it (while a crate is being written). */
export type LockMode = "locked" | "free";

const WORKSPACE = join(ROOT, "wasm");
const GENERATED = join(ROOT, "core", "engine", "generated");

/** std is built once for both crates, so both get the flags that make `search` fast. */
const RUST_FLAGS = ["-Ctarget-feature=+simd128,+bulk-memory"];

/**
 * policy's start-up is its size, and -Oz gives the least. LLVM has already done for search's loops what -O3 would do: -O1 is
 * 2 % bigger and takes a quarter of the time (core/adr/0002-toolchain.md).
 */
const WASM_OPT_LEVEL = { policy: "-Oz", search: "-O1" } satisfies Record<ComponentName, string>;

/** What rustc's code may use. Stripping takes away the section that says so, and JavaScriptCore has all of them. */
const FEATURES = [
  "simd",
  "bulk-memory",
  "bulk-memory-opt",
  "sign-ext",
  "mutable-globals",
  "nontrapping-float-to-int",
  "multivalue",
  "reference-types",
].map((feature) => `--enable-${feature}`);

/** Builds one component when its sources, the compiler or this script changed. `skipped` while the crate does not exist. */
export async function buildComponent(name: ComponentName, rust: Rust, lock: LockMode): Promise<StepEnd> {
  const end = await buildModule(name, rust, lock);
  if (end.state === "skipped") return end;
  // Loaded late: it runs the component through the host's own code, which imports what was just generated.
  const split = await (await import("./parts/split.ts")).splitComponent(name);
  return split.state === "fresh" ? end : { state: "built", note: [end.note, split.note].filter(Boolean).join(", ") };
}

async function buildModule(name: ComponentName, rust: Rust, lock: LockMode): Promise<StepEnd> {
  if (!existsSync(join(WORKSPACE, name, "Cargo.toml"))) {
    return { state: "skipped", note: `there is no crate wasm/${name} yet` };
  }
  const made = whatIsMade(name, rust);
  if (isFresh(made)) return { state: "fresh" };
  const inputs = hashInputs(made);
  const module = await compile(name, rust, lock);
  const small = await optimize(name, module);
  const component = await componentNew(new Uint8Array(readFileSync(small)));
  await transpile(name, component);
  writeStamp(made, inputs);
  const bytes = statSync(join(GENERATED, `${name}.core.wasm`)).size;
  return { state: "built", note: `${Math.round(bytes / 1024)} KB of WebAssembly` };
}

function whatIsMade(name: ComponentName, rust: Rust): Made {
  return {
    step: `wasm_${name}`,
    // Neither crate uses the other: wasm-opt alone takes a minute, and half of all changes are to one of them.
    inputs: [
      `wasm/${name}`,
      `wasm/wit/${name}.wit`,
      "wasm/Cargo.toml",
      "wasm/Cargo.lock",
      "wasm/build.ts",
      "cli/build/rust_toolchain.ts",
      "package-lock.json",
    ],
    facts: [rust.version, rust.wasm.how],
    outputs: [
      `core/engine/generated/${name}.js`,
      `core/engine/generated/${name}.shims.ts`,
      `core/engine/generated/${name}.core.wasm`,
    ],
  };
}

/** Returns the path of the core module that cargo made. */
async function compile(name: ComponentName, rust: Rust, lock: LockMode): Promise<string> {
  if (rust.wasm.how === "none")
    throw new BuildError(`${rust.version} can't build for WebAssembly: it lacks ${rust.wasm.lacks}`);
  // One folder for each compiler and way: cargo itself keeps lock files apart in it, and a new dependency must not mean
  // building std again.
  const target = targetFolder(`wasm-${rust.version}-${rust.wasm.how}`);
  const own =
    rust.wasm.how === "build_std"
      ? {
          args: ["-Zbuild-std=std,panic_abort"],
          // A panic is a trap, and no text of it can leave a component: without the texts policy is 7 % smaller. Our own std
          // can be built so; rustup's prebuilt one can't.
          flags: ["-Zunstable-options", "-Cpanic=immediate-abort"],
          // -Z flags are for nightly compilers; this says that a stable one may take them too.
          env: { RUSTC_BOOTSTRAP: "1", CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: rust.wasm.linker },
        }
      : { args: [], flags: [], env: {} };
  await runTool({
    what: `cargo build ${name}`,
    argv: [
      rust.cargo,
      "build",
      "--release",
      `--package=cordon-${name}`,
      `--target=${WASM_TARGET}`,
      ...own.args,
      ...(lock === "locked" ? ["--locked"] : []),
    ],
    cwd: WORKSPACE,
    env: { ...cargoEnv(rust, [...RUST_FLAGS, ...own.flags], target), ...own.env },
  });
  return join(target, WASM_TARGET, "release", `cordon_${name}.wasm`);
}

/** Binaryen keeps the custom sections that `componentNew` reads; names and producers go. */
async function optimize(name: ComponentName, module: string): Promise<string> {
  // Several versions of binaryen may be installed: take the one that jco's transpiler itself was released with.
  const jco = createRequire(import.meta.resolve("@bytecodealliance/jco-transpile"));
  const wasmOpt = join(dirname(jco.resolve("binaryen")), "bin", "wasm-opt");
  const small = module.replace(/\.wasm$/, ".opt.wasm");
  const level = WASM_OPT_LEVEL[name];
  await runTool({
    what: `wasm-opt ${name}`,
    // Binaryen is itself WebAssembly, and Node runs it in two thirds of the time that Bun takes.
    argv: [
      Bun.which("node") ?? process.execPath,
      wasmOpt,
      level,
      ...FEATURES,
      "--strip-debug",
      "--strip-producers",
      module,
      "-o",
      small,
    ],
  });
  return small;
}

/** Writes the files in one go: readers see the old module or the new one, and never one that does not fit its JavaScript. */
async function transpile(name: ComponentName, component: Uint8Array): Promise<void> {
  const { files, imports, exports } = await transpileBytes(component, {
    name,
    instantiation: "sync",
    nodejsCompat: false,
    tlaCompat: false,
    base64Cutoff: 0,
    minify: false,
  });
  const others = imports.filter((one) => !MAY_IMPORT[name].includes(one));
  if (others.length > 0)
    throw new BuildError(`Component ${name} imports ${others.join(", ")}, which is more than it may`);
  if (exports.length === 0) {
    throw new BuildError(`Component ${name} exports nothing: its crate must call wit-bindgen's generate! and export!`);
  }
  const staging = `${GENERATED}.${name}`;
  rmSync(staging, { recursive: true, force: true });
  for (const [path, content] of [...Object.entries(files).filter(([path]) => !isShim(path)), shimsOf(name, files)]) {
    const to = join(staging, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, content);
  }
  moveInto(staging, GENERATED);
  rmSync(staging, { recursive: true });
}

/** The second core module and later ones: about 100 bytes each, they tie up the destructors of exported resources. */
function isShim(path: string): boolean {
  return /\.core\d+\.wasm$/.test(path);
}

/** The shims as one source file: too small to be files of their own, and load.ts need not know how many there are. */
function shimsOf(name: ComponentName, files: Record<string, Uint8Array>): [string, string] {
  const entries = Object.entries(files).filter(([path]) => isShim(path));
  const lines = entries.map(
    ([path, bytes]) => `  ${JSON.stringify(path)}: ${JSON.stringify(Buffer.from(bytes).toString("base64"))},\n`,
  );
  const head =
    "/** Made by wasm/build.ts. Core modules beside the main one, base64, by the name that the JavaScript asks for. */\n";
  return [`${name}.shims.ts`, `${head}export const SHIMS: Record<string, string> = {\n${lines.join("")}};\n`];
}

function moveInto(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) moveInto(join(from, entry.name), join(to, entry.name));
    else renameSync(join(from, entry.name), join(to, entry.name));
  }
}

if (import.meta.main) {
  const asked = COMPONENTS.filter((name) => process.argv.length < 3 || process.argv.includes(name));
  const { wasm } = await ensureRust();
  for (const name of asked) {
    const end = await buildComponent(name, wasm, "free");
    say(`${name}: ${end.state}${end.note === undefined ? "" : ` (${end.note})`}`);
  }
}
