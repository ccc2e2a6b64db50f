/** Trees for the tests of this folder; nothing else imports it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { FileNames } from "../../contract/file_names.ts";
import type { FileView, GrepQuery } from "../../contract/search.ts";
import type { GitSettings } from "../../config/git_places.ts";

/** A folder in the system's temporary folder, removed at the end of the `using` block. */
export type Tree = { root: string; [Symbol.dispose](): void };

/** Makes a tree of files; a name that ends in a slash is an empty folder. */
export function makeTree(files: Record<string, string | Uint8Array>): Tree {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "cordon-search-")));
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
    if (!name.endsWith("/")) writeFileSync(path, content);
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

/** A query with nothing asked for but a pattern, names relative to the tree. */
export function queryOf(tree: Tree, pattern: string, rest: Partial<GrepQuery> = {}): GrepQuery {
  return {
    pattern,
    path: tree.root,
    relativeTo: tree.root,
    before: 0,
    after: 0,
    lineNumbers: true,
    letterCase: "sensitive",
    multiline: false,
    mode: "files_with_matches",
    headLimit: 0,
    offset: 0,
    ...rest,
  };
}

/** An answer with its names as text. */
export type AsText<Answer> = Omit<Answer, "filenames"> & { filenames: string[] };

/** Makes text of an answer's names. */
export function asText<Answer extends { filenames: FileNames }>(answer: Answer): AsText<Answer> {
  return { ...answer, filenames: [...answer.filenames.list()] };
}

/** A view that hides nothing. */
export const EVERYTHING: FileView = { hidden: [], closedNames: [], sampleEndings: [] };

/** A person without any git settings. */
export const NO_GIT_SETTINGS: GitSettings = { home: "/nonexistent", systemFile: "/nonexistent/gitconfig" };

/** A signal that is never raised. */
export const NEVER = new AbortController().signal;
