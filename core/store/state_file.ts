import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync, constants as fs } from "node:fs";
import { join } from "node:path";
import { ToolFault } from "../contract/fault.ts";
import { privateFolder } from "./paths.ts";

/** A state file: where it lies and whose it is. */
export type StateFile = { folder: string; name: string; uid: number };

/** Replaces a small JSON file of the state folder at once: whoever reads it sees the old or the new one. Mode 0600. Throws ToolFault. */
export function replaceStateFile({ folder, name, uid }: StateFile, value: object): void {
  const path = join(privateFolder(folder, uid), name);
  const staging = `${path}.${process.pid}`;
  try {
    const fd = openSync(staging, fs.O_WRONLY | fs.O_CREAT | fs.O_EXCL | fs.O_NOFOLLOW, 0o600);
    try {
      writeSync(fd, `${JSON.stringify(value, null, 2)}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(staging, path);
  } catch (error) {
    rmSync(staging, { force: true });
    throw new ToolFault({
      code: "audit.unwritable",
      message: `Cannot write ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`,
      hint: "make room, or set CORDON_STATE_DIR to a folder that you can write",
    });
  }
}
