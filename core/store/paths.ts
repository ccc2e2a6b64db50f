import { lstatSync, mkdirSync, type Stats } from "node:fs";
import { ToolFault } from "../contract/fault.ts";

/**
 * Makes a folder that only this user can enter and checks an existing one: it must be a folder, ours, and closed to others.
 * Throws ToolFault `state.insecure`, or `audit.unwritable` when it can't be made.
 */
export function privateFolder(path: string, uid: number): string {
  try {
    if (isPrivate(lstatSync(path, { throwIfNoEntry: false }), uid)) return path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new ToolFault({
      code: "audit.unwritable",
      message: `Cannot make the folder ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`,
      hint: "set CORDON_STATE_DIR to a folder that you can write",
    });
  }
  const found = lstatSync(path);
  if (isPrivate(found, uid)) return path;
  throw new ToolFault({
    code: "state.insecure",
    message: `The folder ${JSON.stringify(path)} must be yours and not writable by others: owner is ${found.uid}, mode ${(found.mode & 0o777).toString(8)}`,
    hint: `chmod 700 ${path}, or set CORDON_STATE_DIR to another folder`,
  });
}

function isPrivate(found: Stats | undefined, uid: number): boolean {
  return found?.isDirectory() === true && found.uid === uid && (found.mode & 0o022) === 0;
}
