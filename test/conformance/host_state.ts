/** What the host looks like, for the conditions that hold after a case. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** Every name below a folder with its kind, mode and content, as text that can be compared. */
export function treeOf(folder: string): string {
  const walk = (path: string): string[] =>
    readdirSync(path)
      .sort()
      .flatMap((name) => {
        const inner = join(path, name);
        const found = lstatSync(inner);
        const line = `${inner} ${found.mode.toString(8)}`;
        if (found.isDirectory()) return [line, ...walk(inner)];
        if (found.isSymbolicLink()) return [`${line} -> ${readlinkSync(inner)}`];
        return [found.isFile() ? `${line} ${Bun.hash(readFileSync(inner))}` : line];
      });
  return walk(folder).join("\n");
}

/** Kind of what a name holds; links are not followed. */
export function kindOf(path: string): "absent" | "file" | "folder" | "symlink" | "other" {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return "absent";
  if (found.isSymbolicLink()) return "symlink";
  if (found.isDirectory()) return "folder";
  return found.isFile() ? "file" : "other";
}

/** Ids of processes that have this text in their command line, working folder or environment, without those that have ended. */
export function processesAbout(text: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    const about = [
      () => readFileSync(`/proc/${name}/cmdline`, "utf8"),
      () => readlinkSync(`/proc/${name}/cwd`),
      () => readFileSync(`/proc/${name}/environ`, "utf8"),
    ];
    return about.some((read) => holds(read, text)) ? [Number(name)] : [];
  });
}

function holds(read: () => string, text: string): boolean {
  try {
    return read().includes(text);
  } catch {
    return false; // It ended, or is another user's.
  }
}
