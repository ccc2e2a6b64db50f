import { readFileSync, realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Cli } from "../command.ts";
import { usageFault } from "../flags.ts";

/** One PATH as it was written: the names below it are shown as it is written, whatever it leads to. */
export type Place = { written: string; real: string; isFile: boolean };

/** Looks at what a PATH is. Never throws. */
export function placeOf(written: string, { world }: Cli): Place {
  const path = resolve(world.cwd, written);
  try {
    return { written, real: realpathSync(path), isFile: statSync(path).isFile() };
  } catch {
    // The call says what is wrong with it.
    return { written, real: path, isFile: false };
  }
}

/** What an error code of a read means for a person. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "you have no permission",
};

/** The lines of a file, `-` for standard input. No file, no pattern: throws ToolFault `usage`. */
export function patternsIn(path: string): string[] {
  try {
    const text = readFileSync(path === "-" ? 0 : path, "utf8");
    return text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw usageFault(`-f: ${JSON.stringify(path)} can't be read: ${REASONS[code] ?? code}`);
  }
}
