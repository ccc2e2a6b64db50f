import { resolve } from "node:path";
import { bytesOf, countOf, percentOf } from "@cordon/core";
import { type Folders, usageFault } from "./flags.ts";

/** setTimeout counts in a signed 32-bit number of milliseconds. */
const LONGEST_MS = 2_147_483_647;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** "500ms", "90s", "2m", "1.5h"; a bare number is seconds, as in timeout(1). Returns milliseconds. Throws ToolFault `usage`. */
export function parseDuration(flag: string, text: string): number {
  const match = /^(\d{1,12}(?:\.\d{1,9})?)(ms|s|m|h)?$/.exec(text);
  const milliseconds = Math.round(Number(match?.[1]) * (UNIT_MS[match?.[2] ?? "s"] ?? Number.NaN));
  if (milliseconds >= 1 && milliseconds <= LONGEST_MS) return milliseconds;
  throw usageFault(
    `--${flag}: ${JSON.stringify(text)} is no time limit`,
    "write a number above 0 with ms, s, m or h, for example 90s or 2m; at most 24 days",
  );
}

/** "10M", "1.5G", "4096"; units are powers of 1024. Throws ToolFault `usage`. */
export function parseBytes(flag: string, text: string): number {
  const bytes = bytesOf(text);
  if (bytes !== null) return bytes;
  throw usageFault(
    `--${flag}: ${JSON.stringify(text)} is no size`,
    "write a number above 0 with K, M or G, for example 512M",
  );
}

/** A whole number above 0. Throws ToolFault `usage`. */
export function parseCount(flag: string, text: string): number {
  const count = countOf(text);
  if (count !== null) return count;
  throw usageFault(`--${flag}: ${JSON.stringify(text)} is no number`, "write a whole number above 0");
}

/** "50%" or "50"; 100 is one processor, 250% two and a half. Throws ToolFault `usage`. */
export function parsePercent(flag: string, text: string): number {
  const percent = percentOf(text);
  if (percent !== null) return percent;
  throw usageFault(
    `--${flag}: ${JSON.stringify(text)} is no share`,
    "write a percentage of one processor, for example 50%",
  );
}

/** One of a few words. Throws ToolFault `usage`. */
export function parseChoice<Word extends string>(flag: string, text: string, words: readonly Word[]): Word {
  const word = words.find((one) => one === text);
  if (word !== undefined) return word;
  throw usageFault(`--${flag}: ${JSON.stringify(text)} is not known`, `write --${flag}=${words.join(" or ")}`);
}

/** Splits at commas; `\,` is a comma in a value. Throws ToolFault `usage` for an empty part. */
export function splitList(flag: string, text: string): string[] {
  return withoutEmpty(flag, text, text.split(/(?<!\\),/));
}

/** The same for paths, where the commas of a list in braces belong to the pattern. */
function splitPaths(flag: string, text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (const { 0: sign, index } of text.matchAll(/\\.|[{},]/gs)) {
    if (sign === "{" && text.indexOf("}", index) > 0) depth++;
    else if (sign === "}") depth = Math.max(0, depth - 1);
    else if (sign === "," && depth === 0) {
      parts.push(text.slice(from, index));
      from = index + 1;
    }
  }
  return withoutEmpty(flag, text, [...parts, text.slice(from)]);
}

function withoutEmpty(flag: string, text: string, split: readonly string[]): string[] {
  const parts = split.map((part) => part.replaceAll("\\,", ","));
  if (parts.every((part) => part !== "")) return parts;
  throw usageFault(
    `--${flag}: empty value in ${JSON.stringify(text)}`,
    `write --${flag}=A,B; a comma in a name is written \\,`,
  );
}

/** A list of paths, made absolute: relative ones start at the working folder, `~` is the home. Throws ToolFault `usage`. */
export function parsePaths(flag: string, text: string, folders: Folders): string[] {
  return splitPaths(flag, text).map((path) => parsePath(flag, path, folders));
}

/** One path, made absolute. Links stay as they are. Throws ToolFault `usage`. */
export function parsePath(flag: string, path: string, folders: Folders): string {
  if (path === "" || path.includes("\0")) throw usageFault(`--${flag}: ${JSON.stringify(path)} is no path`);
  if (!path.startsWith("~")) return resolve(folders.cwd, path);
  // A literal folder named "~bob" is far rarer than the home of bob, and a --deny-read on the wrong one protects nothing.
  if (path !== "~" && !path.startsWith("~/")) {
    throw usageFault(
      `--${flag}: ${JSON.stringify(path)}: only ~ and ~/… are expanded`,
      `write the whole path, or ./${path} for a file of that name`,
    );
  }
  if (!folders.home)
    throw usageFault(`--${flag}: ${JSON.stringify(path)} can't be expanded: HOME is not set`, "write the whole path");
  return resolve(folders.home, `.${path.slice(1)}`);
}

/** A list of environment variable names. Throws ToolFault `usage`. */
export function parseNames(flag: string, text: string): string[] {
  const names = splitList(flag, text);
  const bad = names.find((name) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name));
  if (bad === undefined) return names;
  throw usageFault(
    `--${flag}: ${JSON.stringify(bad)} is no variable name`,
    "letters, digits and _ only; values are taken from the environment",
  );
}
