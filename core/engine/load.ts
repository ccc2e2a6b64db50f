/**
 * Brings the two WebAssembly components up, each at first use only. JavaScriptCore validates a whole module when it
 * compiles it (10 ms for 800 KB), so a command that needs neither must not even read them: every import here is lazy.
 * Bun.file and not node:fs/promises: importing that module alone adds a quarter to the start of every command.
 */
import type { Root as PolicyComponent } from "./generated/policy.js";
import { linkRest } from "./halves.ts";
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

/** What a module of the policy engine is for: questions about files, in two halves, or any, whole. Both answer all. */
export type PolicyFor = "files" | "anything";

/**
 * The policy engine. Later calls get the same instance, whatever they are for. Rejects when the embedded module does not fit its
 * JavaScript. Calls between the halves take a tenth of the time of a decision, so who asks often or about commands has it whole.
 */
export function loadPolicyComponent(what: PolicyFor = "anything"): Promise<LoadedPolicy> {
  policyComponent ??= compileAt(what === "files" ? policyFirst() : policyWhole()).then((module) =>
    instantiatePolicy(module),
  );
  return policyComponent;
}

let policyComponent: Promise<LoadedPolicy> | undefined;

/**
 * Makes an instance of the policy engine of its own; all questions of a process go to the one of `loadPolicyComponent`. `rest` is where the
 * module's other half lies.
 */
export async function instantiatePolicy(module: WebAssembly.Module, rest = policyRest()): Promise<LoadedPolicy> {
  const [{ instantiate }, { SHIMS }, restPath] = await Promise.all([
    import("./generated/policy.js"),
    import("./generated/policy.shims.ts"),
    rest,
  ]);
  const core = catchCore(module, restPath);
  const policy = instantiate((name) => shim(SHIMS, name) ?? module, {}, core.instantiate);
  return { policy, ...core.caught() };
}

/** What a first half of the search engine is made for. Each does all, and brings the other half up for what it was not made for. */
export type SearchFor = "a word" | "anything";

/**
 * Compiles the search engine and nothing more. The compiler works beside the main thread: start it before other work
 * and await it where it is needed. Later calls get the same module, whatever they are for.
 */
export function compileSearchModule(what: SearchFor = "anything"): Promise<WebAssembly.Module> {
  searchModule ??= compileAt(what === "a word" ? searchForWords() : searchForAnything());
  return searchModule;
}

let searchModule: Promise<WebAssembly.Module> | undefined;

async function searchForWords(): Promise<string> {
  return (await import("./generated/search.words.wasm", { with: { type: "file" } })).default;
}

async function searchForAnything(): Promise<string> {
  return (await import("./generated/search.first.wasm", { with: { type: "file" } })).default;
}

async function compileAt(path: Promise<string>): Promise<WebAssembly.Module> {
  return WebAssembly.compile(await Bun.file(await path).arrayBuffer());
}

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

/** Makes one more instance with a memory of its own: for a worker, which must share nothing with the others. `rest` as above. */
export async function instantiateSearch(module: WebAssembly.Module, rest = searchRest()): Promise<LoadedSearch> {
  const [{ instantiate }, { SHIMS }, restPath] = await Promise.all([
    import("./generated/search.js"),
    import("./generated/search.shims.ts"),
    rest,
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
  const core = catchCore(module, restPath, own);
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

/**
 * Instantiates core modules for jco, and keeps hold of the main one, which gets `own` in place of jco's imports of that name. Its other half
 * lies at `restPath`.
 */
function catchCore(
  main: WebAssembly.Module,
  restPath: string,
  own: Record<string, ComponentFiles | ComponentFolders> = {},
) {
  let exports: WebAssembly.Instance["exports"] = {};
  return {
    instantiate: (module: WebAssembly.Module, imports: object) => {
      if (module !== main) return new WebAssembly.Instance(module, { ...imports });
      const linked = { ...imports, ...own };
      const instance = new WebAssembly.Instance(main, linked);
      exports = instance.exports;
      linkRest(exports, linked, () => restAt(restPath));
      return instance;
    },
    caught: (): Core => {
      const { memory } = exports;
      if (memory instanceof WebAssembly.Memory) return { memory, exports };
      throw new Error('Cannot load a component: its module exports no memory named "memory"');
    },
  };
}

async function policyFirst(): Promise<string> {
  return (await import("./generated/policy.first.wasm", { with: { type: "file" } })).default;
}

async function policyWhole(): Promise<string> {
  return (await import("./generated/policy.whole.wasm", { with: { type: "file" } })).default;
}

async function policyRest(): Promise<string> {
  return (await import("./generated/policy.rest.wasm", { with: { type: "file" } })).default;
}

async function searchRest(): Promise<string> {
  return (await import("./generated/search.rest.wasm", { with: { type: "file" } })).default;
}

const rests = new Map<string, WebAssembly.Module>();

/** The other half of a component, compiled at the first call that needs it: that one can't wait for anything. */
function restAt(path: string): WebAssembly.Module {
  const known = rests.get(path) ?? new WebAssembly.Module(process.getBuiltinModule("node:fs").readFileSync(path));
  rests.set(path, known);
  return known;
}

/** The small core module of that name; undefined for the main one. */
function shim(shims: Record<string, string>, name: string): WebAssembly.Module | undefined {
  const base64 = shims[name];
  return base64 === undefined ? undefined : new WebAssembly.Module(Buffer.from(base64, "base64"));
}
