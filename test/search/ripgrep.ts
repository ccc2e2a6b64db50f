/** ripgrep as the tests and measurements use it: the release that the build installs, never an older one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { RIPGREP } from "../../cli/build/search_tools.ts";
import { cacheFolder } from "../../cli/build/cache.ts";
import type { GrepQuery, SearchScope } from "../../core/contract/search.ts";

const installed = join(cacheFolder(), RIPGREP.folder, "bin", "rg");

/** The path of ripgrep, or why there is none. */
export const ripgrep: { path: string } | { missing: string } = existsSync(installed)
  ? { path: installed }
  : { missing: `ripgrep ${RIPGREP.version} is not installed (npm test installs it with cargo)` };

const MODES: Readonly<Record<GrepQuery["mode"], readonly string[]>> = {
  content: [],
  count: ["--count"],
  count_matches: ["--count-matches"],
  files_with_matches: ["--files-with-matches"],
  files_without_match: ["--files-without-match"],
};

/**
 * What ripgrep is told for a query. It is to be as we are where we differ on purpose: `$` stands before `\r\n`, `.` matches line
 * ends in a multi-line search, `.git` is left out, names are always printed.
 */
export function argumentsFor(query: GrepQuery): string[] {
  return [
    "--no-config",
    "--sort=path",
    "--color=never",
    "--with-filename",
    "--no-heading",
    "--crlf",
    "--no-messages",
    query.lineNumbers ? "--line-number" : "--no-line-number",
    ...(query.before > 0 ? [`--before-context=${query.before}`] : []),
    ...(query.after > 0 ? [`--after-context=${query.after}`] : []),
    ...{ sensitive: ["--case-sensitive"], ignore: ["--ignore-case"], smart: ["--smart-case"] }[query.letterCase],
    ...(query.multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(query.fixed ? ["--fixed-strings"] : []),
    ...(query.word ? ["--word-regexp"] : []),
    ...scopeArguments(query),
    ...(query.invert ? ["--invert-match"] : []),
    ...(query.onlyMatching ? ["--only-matching"] : []),
    ...(query.maxCount ? [`--max-count=${query.maxCount}`] : []),
    ...MODES[query.mode],
    "-e",
    query.pattern,
  ];
}

/** The part of the arguments that chooses files. */
export function scopeArguments(scope: SearchScope): string[] {
  return [
    // In front, so that any other glob is stronger.
    "--glob=!.git",
    ...(scope.includeHidden ? ["--hidden"] : []),
    ...(scope.noIgnore ? ["--no-ignore"] : []),
    ...(scope.noIgnoreKinds ?? []).map((kind) => `--no-ignore-${kind}`),
    ...(scope.globIgnoreCase ? ["--glob-case-insensitive"] : []),
    ...(scope.globs ?? []).map((glob) => `--glob=${glob}`),
    ...(scope.iglobs ?? []).map((glob) => `--iglob=${glob}`),
    ...(scope.types ?? []).map((type) => `--type=${type}`),
    ...(scope.typesNot ?? []).map((type) => `--type-not=${type}`),
  ];
}
