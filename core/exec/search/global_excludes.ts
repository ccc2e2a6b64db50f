import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { GitSettings } from "../../config/git_places.ts";

/** Larger files are no list of what to ignore. */
const LIMIT_BYTES = 16 << 20;

/** One line of a git configuration, as ripgrep reads it: without sections, which git's own parser would mind. */
const EXCLUDES_LINE = /^\s*excludesfile\s*=\s*"?\s*(\S+?)\s*"?\s*$/im;

/**
 * The text of the file that stands for `core.excludesFile`: the first of the global, the person's and the system's configuration
 * that names one, else `git/ignore` in the configuration folder. Undefined if there is none.
 */
export function readGlobalExcludes(settings: GitSettings): Uint8Array | undefined {
  const config = settings.xdgConfigHome || join(settings.home, ".config");
  const configs = [
    settings.globalFile,
    join(settings.home, ".gitconfig"),
    join(config, "git/config"),
    settings.systemFile || "/etc/gitconfig",
  ];
  for (const path of configs) {
    const named = path ? EXCLUDES_LINE.exec(readSmall(path)?.toString("latin1") ?? "")?.[1] : undefined;
    if (named !== undefined)
      return readSmall(Buffer.from(named, "latin1").toString("utf8").replaceAll("~", settings.home));
  }
  return readSmall(join(config, "git/ignore"));
}

function readSmall(path: string): Buffer | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= LIMIT_BYTES ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}
