import { chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A home, a state folder and a workspace of one test, all below `top`, which is real. */
export type Scratch = { top: string; home: string; state: string; work: string };

/** Makes a scratch folder. Whoever calls it removes it with `removeScratch`. */
export function makeScratch(): Scratch {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "e2e-cordon-")));
  const scratch = { top, home: join(top, "home"), state: join(top, "state"), work: join(top, "work") };
  for (const folder of [scratch.home, scratch.state, scratch.work]) mkdirSync(folder, { mode: 0o700 });
  return scratch;
}

/** Gives all of it to another user; only root can. */
export function giveTo(path: string, uid: number): void {
  chownSync(path, uid, uid);
  for (const entry of readdirSync(path)) {
    const inner = join(path, entry);
    const found = lstatSync(inner);
    if (found.isDirectory()) giveTo(inner, uid);
    else if (!found.isSymbolicLink()) chownSync(inner, uid, uid);
  }
}

/** Removes it and all in it. */
export function removeScratch({ top }: Scratch): void {
  rmSync(top, { recursive: true, force: true });
}
