/** fd as the tests use it: the release that the build installs. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../cli/build/cache.ts";
import { FD } from "../../cli/build/search_tools.ts";
import type { IgnoreKind } from "../../core/contract/search.ts";

const installed = join(cacheFolder(), FD.folder, "bin", "fd");

/** The path of fd, or why there is none. */
export const fd: { path: string } | { missing: string } = existsSync(installed)
  ? { path: installed }
  : { missing: `fd ${FD.version} is not installed (npm test installs it with cargo)` };

/** A search for names that fd knows too. `glob` has no `!` in front. */
export type NameQuery = {
  glob: string;
  ignoreCase: boolean;
  includeHidden: boolean;
  noIgnore: boolean;
  noIgnoreKinds: readonly IgnoreKind[];
};

/** The kinds of ignore files that fd can leave aside one at a time. */
export const FD_KINDS: readonly IgnoreKind[] = ["vcs", "parent"];

/** What fd is told for a query in a folder: files only, each with a NUL byte behind it. A glob with a slash is one of whole paths. */
export function fdArguments(query: NameQuery, folder: string): string[] {
  const isPath = query.glob.includes("/");
  const escaped = folder.replace(/[[\]{}*?\\]/g, "\\$&");
  return [
    "--glob",
    "--type=file",
    "--print0",
    "--color=never",
    "--strip-cwd-prefix=always",
    // As ours: `.git` is never entered.
    "--exclude=.git",
    query.ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...(query.includeHidden ? ["--hidden"] : []),
    ...(query.noIgnore ? ["--no-ignore"] : []),
    ...query.noIgnoreKinds.map((kind) => `--no-ignore-${kind}`),
    ...(isPath ? ["--full-path"] : []),
    "--",
    isPath ? `${escaped}/${query.glob}` : query.glob,
  ];
}
