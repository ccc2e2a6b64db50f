/**
 * What was built from what. A step's inputs are hashed by content; the stamp beside its outputs says which inputs they
 * were made from. Heavy things that several clones can share (cargo's target folders, logs) live in a cache outside.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";

/** The root of the clone, absolute. */
export const ROOT = join(import.meta.dir, "..", "..");

/** One step as the up-to-date check sees it. `facts` are inputs that are not files, such as a compiler's version. */
export type Made = { step: string; inputs: string[]; facts?: string[]; outputs: string[] };

type Stamp = { inputs: string; outputs: Record<string, string> };

/** The folder outside the clone that keeps what is dear to make again. */
export function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
  return join(base, "cordon-build");
}

/**
 * Cargo's target folder for one kind of build. Each clone has its own: cargo takes crates of two workspaces for the same when they
 * lie at the same place in them, and would mix up what it made of one and the other.
 */
export function targetFolder(kind: string, clone: string = ROOT): string {
  const own = createHash("sha256").update(clone).digest("hex").slice(0, 8);
  return join(cacheFolder(), `${kind.replaceAll(/[^\w.]+/g, "-")}-${own}`);
}

/** Where the whole output of each tool is kept. */
export function logFolder(): string {
  return join(cacheFolder(), "log");
}

/** True when the outputs are there, untouched, and were made from exactly these inputs. */
export function isFresh(made: Made): boolean {
  const stamp = readStamp(made.step);
  if (stamp === undefined || stamp.inputs !== hashInputs(made)) return false;
  return made.outputs.every((path) => stamp.outputs[path] !== undefined && stamp.outputs[path] === mark(path));
}

/**
 * Records that the outputs now come from these inputs. Call it only after the outputs are written. `inputs` is `hashInputs` from before
 * they were made: what changes meanwhile (a `git pull`) is not in them.
 */
export function writeStamp(made: Made, inputs: string): void {
  const outputs: Record<string, string> = {};
  for (const path of made.outputs) {
    const found = mark(path);
    if (found === undefined) throw new Error(`Cannot stamp "${made.step}": output "${path}" was not written`);
    outputs[path] = found;
  }
  const stamp: Stamp = { inputs, outputs };
  mkdirSync(dirname(stampPath(made.step)), { recursive: true });
  writeFileSync(stampPath(made.step), `${JSON.stringify(stamp)}\n`);
}

/** SHA-256 of file contents and names, and of the facts. Inputs are files or folders, relative to the root; absent ones count as such. */
export function hashInputs(made: Pick<Made, "inputs" | "facts">): string {
  const hash = createHash("sha256");
  for (const fact of made.facts ?? []) hash.update(`fact ${fact}\0`);
  for (const input of made.inputs) {
    for (const path of listFiles(join(ROOT, input))) {
      hash
        .update(`file ${relative(ROOT, path)}\0`)
        .update(readFileSync(path))
        .update("\0");
    }
  }
  return hash.digest("hex");
}

/** All files below a path in a fixed order, without build products. The path itself when it is a file; none when absent. */
export function listFiles(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (!stat.isDirectory()) return [path];
  const names = readdirSync(path).filter((name) => !notSource.has(name));
  return names.sort().flatMap((name) => listFiles(join(path, name)));
}

const notSource = new Set(["node_modules", "target", "generated", "dist", ".git"]);

/** Size and time, not content: an output is only asked whether it is still the one that was written. */
function mark(path: string): string | undefined {
  const stat = statSync(join(ROOT, path), { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.size} ${stat.mtimeMs}`;
}

function stampPath(step: string): string {
  return join(ROOT, "dist", "stamps", `${step}.json`);
}

function readStamp(step: string): Stamp | undefined {
  if (!existsSync(stampPath(step))) return undefined;
  try {
    return JSON.parse(readFileSync(stampPath(step), "utf8"));
  } catch {
    return undefined; // half-written by a run that was stopped: build again
  }
}
