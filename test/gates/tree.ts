/** What git would commit: tracked files and new ones that are not ignored. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../cli/build/cache.ts";
import type { Source } from "./sources.ts";

/** The entries that the root may hold. A new one is a decision: the layout is the architecture. */
export const TOP_LEVEL: ReadonlySet<string> = new Set([
  ".ci",
  ".gitattributes",
  ".gitignore",
  ".npmrc",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "LICENSE",
  "NOTICE",
  "README.md",
  "SECURITY.md",
  "biome.json",
  "bunfig.toml",
  "cli",
  "core",
  "package-lock.json",
  "package.json",
  "sandbox-native",
  "test",
  "tsconfig.json",
  "wasm",
]);

/** Paths of committable files relative to the root. Throws when git can't list them: a gate that sees nothing would pass. */
export function committablePaths(): string[] {
  const git = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"], {
    cwd: ROOT,
  });
  const paths = git.stdout.toString().split("\0").filter(Boolean);
  if (!git.success || paths.length === 0)
    throw new Error(`git can't list the files of this clone: ${git.stderr.toString()}`);
  return paths;
}

/** The text of those files. Those that are not UTF-8, and the lock files, which tools write, are left out. */
export function committableSources(): Source[] {
  const paths = committablePaths().filter((path) => !/(^|\/)(package-lock\.json|Cargo\.lock)$/.test(path));
  return paths.flatMap((path) => {
    try {
      return [{ path, text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(join(ROOT, path))) }];
    } catch {
      return []; // deleted but not yet staged, or not text
    }
  });
}

/** Entries of the root that are not in the list. */
export function rootFaults(paths: string[]): string[] {
  const entries = new Set(paths.map((path) => path.split("/")[0] ?? ""));
  return [...entries]
    .filter((entry) => !TOP_LEVEL.has(entry))
    .map((entry) => `${entry}: not one of the entries that the root may hold`);
}
