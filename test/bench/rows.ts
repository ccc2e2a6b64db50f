/** What is measured against what. A row is added here and nowhere else. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../cli/build/cache.ts";
import { FLAGS } from "../../cli/build/bundle.ts";
import type { Timed } from "./alternate.ts";
import { makeTree, NEEDLE } from "./make_tree.ts";

/** One line of the table. `target` is the ratio to reach at most. */
export type Row = { what: string; subject: Timed; peer: Timed; rounds: number; target: number };

/** The executable that is measured: the one the build makes. */
export const CORDON = join(ROOT, "dist", "cordon");

/** Makes what the rows need below `folder` and returns them. */
export function makeRows(folder: string): Row[] {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true });
  const tree = makeTree(folder);
  const version: Timed = { name: "cordon --version", argv: [CORDON, "--version"] };
  const runTrue: Timed = { name: "cordon run -- true", argv: [CORDON, "run", "--", "true"], cwd: workspace };
  const grep: Timed = {
    name: "cordon call grep_search",
    argv: [CORDON, "call", "grep_search", grepInput(tree)],
    cwd: tree,
  };
  return [
    { what: "start-up", subject: version, peer: emptyProgram(folder), rounds: 40, target: 1.5 },
    { what: "sandboxed command", subject: runTrue, peer: bwrap(workspace), rounds: 40, target: 2 },
    {
      what: "sandboxed command",
      subject: runTrue,
      peer: { name: "true", argv: ["true"], cwd: workspace },
      rounds: 40,
      target: 40,
    },
    { what: "search, cold process", subject: grep, peer: ripgrep(tree), rounds: 15, target: 1 },
  ];
}

/** The least a compiled Bun program can be, made with the same flags as ours. */
function emptyProgram(folder: string): Timed {
  const source = join(folder, "empty.ts");
  const path = join(folder, "empty");
  writeFileSync(source, 'console.log("0.0.0");\n');
  const made = Bun.spawnSync([process.execPath, "build", ...FLAGS, source, "--outfile", path], { cwd: folder });
  if (!made.success) throw new Error(`Cannot build the empty program: ${made.stderr.toString()}`);
  return { name: "empty compiled program", argv: [path] };
}

/** The isolation of `cordon run` in bubblewrap's words: all namespaces, a read-only system, one writable folder. */
function bwrap(workspace: string): Timed {
  const view = [
    "--ro-bind",
    "/",
    "/",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    "--bind",
    workspace,
    workspace,
  ];
  const argv: [string, ...string[]] = [
    "bwrap",
    "--unshare-all",
    "--die-with-parent",
    ...view,
    "--chdir",
    workspace,
    "true",
  ];
  return { name: "bwrap … true", argv, cwd: workspace };
}

function grepInput(tree: string): string {
  return JSON.stringify({ pattern: NEEDLE, path: tree, output_mode: "content" });
}

function ripgrep(tree: string): Timed {
  return { name: "rg", argv: ["rg", "--line-number", "--no-heading", NEEDLE, tree], cwd: tree };
}
