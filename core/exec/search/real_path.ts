import { lstatSync, type Stats } from "node:fs";

/**
 * A path as the kernel knows it. A string wherever the bytes are UTF-8, which a string can name again; the bytes themselves
 * elsewhere.
 */
export type RealPath = string | Buffer;

const SLASH = Buffer.from("/");

/** True if the text may stand for bytes that were not UTF-8, and so can't be used to open what it names. */
export function isLossy(text: string): boolean {
  return text.includes("\uFFFD");
}

/** The entry `name` of a folder. Only "/" itself ends with a slash. */
export function childOf(folder: RealPath, name: RealPath): RealPath {
  if (typeof folder === "string" && typeof name === "string") {
    return folder === "/" ? `/${name}` : `${folder}/${name}`;
  }
  return Buffer.concat([Buffer.from(folder), SLASH, Buffer.from(name)]);
}

/** The path for people: what is not UTF-8 is shown as U+FFFD. */
export function shownPath(path: RealPath): string {
  return typeof path === "string" ? path : path.toString("utf8");
}

/** What stands at a path, itself and not what it links to. Undefined if there is nothing or it can't be seen. */
export function lstatOrNothing(path: RealPath): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}
