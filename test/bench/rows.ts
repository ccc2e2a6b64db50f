/** What is measured against what. A row is added here and nowhere else. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../cli/build/cache.ts";
import { FLAGS } from "../../cli/build/bundle.ts";
import type { Timed } from "./alternate.ts";
import { sandboxRows } from "./sandbox_rows.ts";
import { makeTree, NEEDLE } from "./make_tree.ts";
import { searchRows } from "./search_rows.ts";

/** One line of the table. `target` is the ratio to reach at most, or with `adds` the milliseconds that ours may take more. */
export type Row = { what: string; subject: Timed; peer: Timed; rounds: number; target: number; adds?: true };

/** The executable that is measured: the one the build makes. */
export const CORDON = join(ROOT, "dist", "cordon");

/** Makes what the rows need below `folder` and returns them. What takes minutes to make is made only where `words` ask for it. */
export function makeRows(folder: string, words: readonly string[]): Row[] {
  const tree = makeTree(folder);
  const version: Timed = { name: "cordon --version", argv: [CORDON, "--version"] };
  const grep: Timed = {
    name: "cordon call grep_search",
    argv: [CORDON, "call", "grep_search", grepInput(tree)],
    cwd: tree,
  };
  return [
    { what: "start-up", subject: version, peer: emptyProgram(folder), rounds: 40, target: 1.5 },
    ...sandboxRows({ cordon: CORDON, folder, bwrap }),
    { what: "search, cold process", subject: grep, peer: ripgrep(tree), rounds: 15, target: 1 },
    ...searchRows(CORDON, folder, words),
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

/** One entry of the view in a plan, as `cordon run --explain --json` prints it. */
type PlannedMount = { path: string; access: string; target?: string };

/**
 * The isolation of `cordon run` in bubblewrap's words: the same namespaces and the very mounts of cordon's own plan, no
 * capabilities, the same few variables. It has no Landlock and no system call filter, which bubblewrap does not bring.
 */
function bwrap({ name: _, argv: [cordon, ...before], cwd: workspace = "/", env }: Timed): Timed {
  const asked = [cordon, ...before, "run", "--explain", "--json", "--", "true"];
  const explained = Bun.spawnSync(asked, { cwd: workspace, ...(env ? { env } : {}) });
  const plan: { sandbox?: { ops: { op: string; mounts?: PlannedMount[] }[] } } = JSON.parse(
    explained.stdout.toString(),
  );
  const mounts = plan.sandbox?.ops.find(({ op }) => op === "view")?.mounts ?? [];
  const isolation = ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net"];
  const rest = ["--cap-drop", "ALL", "--die-with-parent", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin"];
  const argv: [string, ...string[]] = ["bwrap", ...isolation, ...mounts.flatMap(inBwrapsWords), ...rest];
  return { name: "bwrap, same view", argv: [...argv, "--chdir", workspace, "true"], cwd: workspace };
}

function inBwrapsWords({ path, access, target = "" }: PlannedMount): string[] {
  const words: Record<string, string[]> = {
    ro: ["--ro-bind", path, path],
    rw: ["--bind", path, path],
    protected: ["--ro-bind", path, path],
    hidden_dir: ["--tmpfs", path],
    hidden_file: ["--ro-bind", "/dev/null", path],
    tmpfs: ["--tmpfs", path],
    proc: ["--proc", path],
    dev: ["--dev", path],
    symlink: ["--symlink", target, path],
  };
  return words[access] ?? [];
}

function grepInput(tree: string): string {
  return JSON.stringify({ pattern: NEEDLE, path: tree, output_mode: "content" });
}

function ripgrep(tree: string): Timed {
  return { name: "rg", argv: ["rg", "--line-number", "--no-heading", NEEDLE, tree], cwd: tree };
}
