import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** A name for what is written before it is renamed to `path`: it tells who writes. */
export function unfinishedName(path: string): string {
  return `${path}.${process.pid}.${crypto.randomUUID()}`;
}

/** A writer takes milliseconds; one that can't be seen, in another pid namespace, has ended after this time too. */
const LONGEST_WRITE_MS = 60_000;

/**
 * Removes what writers that were killed have left in a folder under such names. Called by those who write there, so that nothing
 * is looked at in ordinary runs.
 */
export function dropUnfinished(folder: string, now = Date.now()): void {
  for (const name of readdirSync(folder)) {
    const writer = name.match(/\.(\d+)\.[0-9a-f]{8}-[0-9a-f-]{27}$/)?.[1];
    if (writer === undefined || existsSync(`/proc/${writer}`)) continue;
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && now - found.mtimeMs > LONGEST_WRITE_MS) rmSync(path, { force: true });
  }
}

/** Keeps the newest `most` files of a folder whose names are like `named`, so that years of work do not fill a disk. */
export function dropOldest(folder: string, { named, most }: { named: RegExp; most: number }): void {
  const names = readdirSync(folder).filter((name) => named.test(name));
  if (names.length <= most) return;
  const dated = names.flatMap((name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return found ? [{ name, mtimeMs: found.mtimeMs }] : [];
  });
  dated.sort((a, b) => a.mtimeMs - b.mtimeMs);
  for (const { name } of dated.slice(0, dated.length - most)) rmSync(join(folder, name), { force: true });
}
