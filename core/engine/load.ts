/**
 * Brings the two WebAssembly components up, each at first use only. JavaScriptCore validates a whole module when it
 * compiles it (10 ms for 800 KB), so a command that needs neither must not even read them: every import here is lazy.
 * Bun.file and not node:fs/promises: importing that module alone adds a quarter to the start of every command.
 */
import type { Root as PolicyComponent } from "./generated/policy.js";
import type { ImportObject, Root as SearchComponent } from "./generated/search.js";

export type { PolicyComponent, SearchComponent };

/**
 * The search engine and its linear memory. Make views with `new Uint8Array(memory.buffer, pointer, bytes)` after the
 * component gave out the pointer, and make them again after each call into it: growing the memory detaches the old buffer.
 * `module` can be posted to a worker, which then calls `instantiateSearch` with it and compiles nothing.
 */
export type LoadedSearch = {
  search: SearchComponent;
  module: WebAssembly.Module;
  /** What the component reads files through. Until it is filled in, all reading fails. */
  files: FilesLink;
} & Core;

/** The policy engine: jco's face of it, and its core for `PolicyDoor`. */
export type LoadedPolicy = { policy: PolicyComponent } & Core;

/** `files` of wasm/wit/search.wit: numbers in, numbers out, less than 0 is a failure. */
export type ComponentFiles = {
  open: (folder: number, name: number) => number;
  read: (file: number, to: number, bytes: number, start: number) => number;
  size: (file: number) => number;
  changed: (folder: number, name: number) => number;
  close: (file: number) => void;
};

/** `folders` of wasm/wit/search.wit, in the same way. */
export type ComponentFolders = {
  open: (path: number) => number;
  entries: (folder: number, to: number, bytes: number) => number;
  kind: (folder: number, name: number) => number;
};

/** Stands between an instance, which must have its imports when it is made, and the files, which need its memory. */
export type FilesLink = { to: ComponentFiles; folders: ComponentFolders };

/** The policy engine. Later calls get the same instance. Rejects when the embedded module does not fit its JavaScript. */
export const loadPolicyComponent: () => Promise<LoadedPolicy> = once(async () => {
  const [{ instantiate }, { SHIMS }, module] = await Promise.all([
    import("./generated/policy.js"),
    import("./generated/policy.shims.ts"),
    compilePolicyModule(),
  ]);
  const core = catchCore(module);
  const policy = instantiate((name) => shim(SHIMS, name) ?? module, {}, core.instantiate);
  return { policy, ...core.caught() };
});

/**
 * Compiles the search engine and nothing more. The compiler works beside the main thread: start it before other work
 * and await it where it is needed. Later calls get the same module.
 */
export const compileSearchModule: () => Promise<WebAssembly.Module> = once(async () => {
  const { default: path } = await import("./generated/search.core.wasm", { with: { type: "file" } });
  return WebAssembly.compile(await Bun.file(path).arrayBuffer());
});

const FILES = "cordon:search/files@0.1.0";

const FOLDERS = "cordon:search/folders@0.1.0";

const NO_FOLDERS: ComponentFolders = { open: () => -1, entries: () => -1, kind: () => -1 };

const NO_FILES: ComponentFiles = {
  open: () => -1,
  read: () => -1,
  size: () => -1,
  changed: () => Number.NaN,
  close: () => {},
};

/** Makes one more instance with a memory of its own: for a worker, which must share nothing with the others. */
export async function instantiateSearch(module: WebAssembly.Module): Promise<LoadedSearch> {
  const [{ instantiate }, { SHIMS }] = await Promise.all([
    import("./generated/search.js"),
    import("./generated/search.shims.ts"),
  ]);
  const files: FilesLink = { to: NO_FILES, folders: NO_FOLDERS };
  const linked: ComponentFiles = {
    open: (folder, name) => files.to.open(folder, name),
    read: (file, to, bytes, start) => files.to.read(file, to, bytes, start),
    size: (file) => files.to.size(file),
    changed: (folder, name) => files.to.changed(folder, name),
    close: (file) => files.to.close(file),
  };
  const folders: ComponentFolders = {
    open: (path) => files.folders.open(path),
    entries: (folder, to, bytes) => files.folders.entries(folder, to, bytes),
    kind: (folder, name) => files.folders.kind(folder, name),
  };
  const own = { [FILES]: linked, [FOLDERS]: folders };
  // jco's own functions keep a record of each call; these take and give only numbers, so that nothing needs translating.
  const core = catchCore(module, own);
  const search = instantiate(
    (name) => shim(SHIMS, name) ?? module,
    // jco looks for the interface by its name, and its types ask for the version too.
    { ...own, [FILES.replace(/@.*/, "")]: linked, [FOLDERS.replace(/@.*/, "")]: folders } as ImportObject,
    core.instantiate,
  );
  return { search, module, files, ...core.caught() };
}

/** The core module's memory and functions, for calls that are too many for jco's wrappers and take and give only numbers. */
type Core = { memory: WebAssembly.Memory; exports: WebAssembly.Instance["exports"] };

/** Instantiates core modules for jco, and keeps hold of the main one, which gets `own` in place of jco's imports of that name. */
function catchCore(main: WebAssembly.Module, own: Record<string, ComponentFiles | ComponentFolders> = {}) {
  let exports: WebAssembly.Instance["exports"] = {};
  return {
    instantiate: (module: WebAssembly.Module, imports: object) => {
      const instance = new WebAssembly.Instance(module, module === main ? { ...imports, ...own } : { ...imports });
      if (module === main) exports = instance.exports;
      return instance;
    },
    caught: (): Core => {
      const { memory } = exports;
      if (memory instanceof WebAssembly.Memory) return { memory, exports };
      throw new Error('Cannot load a component: its module exports no memory named "memory"');
    },
  };
}

async function compilePolicyModule(): Promise<WebAssembly.Module> {
  const { default: path } = await import("./generated/policy.core.wasm", { with: { type: "file" } });
  return WebAssembly.compile(await Bun.file(path).arrayBuffer());
}

/** The small core module of that name; undefined for the main one. */
function shim(shims: Record<string, string>, name: string): WebAssembly.Module | undefined {
  const base64 = shims[name];
  return base64 === undefined ? undefined : new WebAssembly.Module(Buffer.from(base64, "base64"));
}

/** The first call makes the value, all others get it. A failure is final: the executable is damaged, and trying again won't help. */
function once<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
