import { lstatSync, readFileSync, statSync } from "node:fs";
import type { IgnoreKind } from "../../contract/search.ts";
import type { RuleSource, SearchEngine } from "../../engine/search.ts";
import type { SearchJob } from "./job.ts";
import { childOf, type RealPath, shownPath } from "./real_path.ts";

/** The bits of `survey` in wasm/wit/search.wit. */
const SEEN = { rgignore: 1, ignore: 2, gitignore: 4, gitFolder: 8, gitFile: 16, jj: 32 } as const;

const REPOSITORY = SEEN.gitFolder | SEEN.gitFile | SEEN.jj;

/** Ignore files are small; one that is not is none. */
const IGNORE_FILE_LIMIT_BYTES = 16 << 20;

const IGNORE_FILES: readonly (readonly [name: string, bit: number, source: RuleSource])[] = [
  [".rgignore", SEEN.rgignore, "rgignore"],
  [".ignore", SEEN.ignore, "ignore"],
  [".gitignore", SEEN.gitignore, "gitignore"],
];

/** The component's numbers of the folders that it was told of, with the rules of each and of all folders above it. */
export class FolderNumbers {
  readonly #engine: SearchEngine;
  readonly #job: SearchJob;
  readonly #mayRead: (path: string) => boolean;
  readonly #numbers = new Map<string, number>();

  constructor(engine: SearchEngine, job: SearchJob, mayRead: (path: string) => boolean) {
    this.#engine = engine;
    this.#job = job;
    this.#mayRead = mayRead;
  }

  /** The number of a folder whose entries were read: `seen` is what `survey` said of them, `known` the number of its parent. */
  enter(path: RealPath, seen: number, known?: number): number {
    const key = keyOf(path);
    const parent = parentOf(path);
    // Before the component is asked for a number: this may enter folders itself.
    const above = known ?? (parent === undefined ? undefined : this.#numberOf(parent));
    const folder = this.#engine.enter({
      name: parent === undefined ? "/" : nameOf(path),
      parent: above,
      above: isAbove(path, this.#job.start),
      repository: (seen & REPOSITORY) !== 0 && !this.#isLeftAside(path),
    });
    this.#numbers.set(key, folder);
    if (key === keyOf(this.#job.start) && this.#job.globalExcludes !== undefined && this.#heeds("global", "vcs")) {
      this.#engine.addRules(folder, "global", this.#engine.write(this.#job.globalExcludes));
    }
    this.#addRules(path, folder, seen);
    return folder;
  }

  #numberOf(path: RealPath): number {
    return this.#numbers.get(keyOf(path)) ?? this.enter(path, lookAt(path));
  }

  #addRules(path: RealPath, folder: number, seen: number): void {
    if (this.#job.scope.noIgnore || this.#isLeftAside(path)) return;
    for (const [name, bit, source] of IGNORE_FILES) {
      if ((seen & bit) !== 0 && this.#heeds(source === "gitignore" ? "vcs" : "dot"))
        this.#addFile(childOf(path, name), folder, source);
    }
    if (!this.#heeds("exclude", "vcs")) return;
    if ((seen & SEEN.gitFolder) !== 0) this.#addFile(childOf(path, ".git/info/exclude"), folder, "exclude");
    if ((seen & SEEN.gitFile) !== 0) {
      const common = commonGitFolder(path);
      if (common !== undefined) this.#addFile(`${common}/info/exclude`, folder, "exclude");
    }
  }

  /** Folders above the start have no say, not even in what is a repository. */
  #isLeftAside(path: RealPath): boolean {
    return !this.#heeds("parent") && isAbove(path, this.#job.start);
  }

  #heeds(...kinds: readonly IgnoreKind[]): boolean {
    return !kinds.some((kind) => this.#job.noIgnoreKinds.includes(kind));
  }

  #addFile(path: RealPath, folder: number, source: RuleSource): void {
    if (!this.#mayRead(shownPath(path))) return;
    const text = readSmall(path);
    if (text !== undefined && text.length > 0) this.#engine.addRules(folder, source, this.#engine.write(text));
  }
}

/** A text that has a say in which rules hold, if there is one at its path. */
export type RuleText = { path: RealPath; text: Buffer | undefined };

/** The texts that an entry of a folder brings in: an ignore file itself, or what git keeps. */
export function ruleTextsIn(folder: RealPath, name: string, kind: "folder" | "other"): RuleText[] {
  const path = childOf(folder, name);
  if (name !== ".git") return [{ path, text: kind === "folder" ? undefined : readSmall(path) }];
  const common = kind === "folder" ? path : commonGitFolder(folder);
  const exclude = common === undefined ? [] : [childOf(common, "info/exclude")];
  return [path, ...exclude].map((file) => ({ path: file, text: file === path ? undefined : readSmall(file) }));
}

/** The texts in the folders above one. */
export function ruleTextsAbove(path: string): RuleText[] {
  const texts: RuleText[] = [];
  for (let above = parentOf(path); above !== undefined; above = parentOf(above)) {
    for (const name of [...IGNORE_FILES.map(([name]) => name), ".git", ".jj"]) {
      const kind = kindAt(childOf(above, name));
      if (kind !== undefined) texts.push(...ruleTextsIn(above, name, kind));
    }
  }
  return texts;
}

/** What there is in a folder whose entries nobody has read. */
function lookAt(path: RealPath): number {
  let seen = 0;
  for (const [name, bit] of IGNORE_FILES) if (kindAt(childOf(path, name)) !== undefined) seen |= bit;
  const git = kindAt(childOf(path, ".git"));
  if (git !== undefined) seen |= git === "folder" ? SEEN.gitFolder : SEEN.gitFile;
  if (kindAt(childOf(path, ".jj")) !== undefined) seen |= SEEN.jj;
  return seen;
}

function kindAt(path: RealPath): "folder" | "other" | undefined {
  try {
    return lstatSync(path).isDirectory() ? "folder" : "other";
  } catch {
    return undefined;
  }
}

/** The folder that a linked worktree shares with its repository: it has the exclude file, as git and ripgrep see it. */
function commonGitFolder(path: RealPath): string | undefined {
  const line = firstLine(childOf(path, ".git"));
  if (!line?.startsWith("gitdir: ")) return undefined;
  const own = line.slice("gitdir: ".length);
  const real = own.startsWith("/") ? own : `${shownPath(path)}/${own}`;
  const common = firstLine(`${real}/commondir`);
  if (common === undefined) return undefined;
  return common.startsWith(".") ? `${real}/${common}` : common;
}

function firstLine(path: RealPath): string | undefined {
  return readSmall(path)?.toString("utf8").split(/\r?\n/, 1)[0];
}

/** Ignore files are followed through links, as git does; what is no regular file, or is huge, is none. */
function readSmall(path: RealPath): Buffer | undefined {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.size <= IGNORE_FILE_LIMIT_BYTES ? readFileSync(path) : undefined;
  } catch {
    return undefined;
  }
}

function isAbove(path: RealPath, start: string): boolean {
  const text = shownPath(path);
  return text !== start && (text === "/" || start.startsWith(`${text}/`));
}

/** Bytes that are not UTF-8 must not make two folders one. */
function keyOf(path: RealPath): string {
  return typeof path === "string" ? path : path.toString("latin1");
}

function parentOf(path: RealPath): RealPath | undefined {
  if (path === "/") return undefined;
  if (typeof path === "string") return path.slice(0, path.lastIndexOf("/")) || "/";
  const parent = path.subarray(0, path.lastIndexOf(0x2f));
  const text = parent.toString("utf8");
  return Buffer.from(text).equals(parent) ? text || "/" : parent;
}

function nameOf(path: RealPath): string | Uint8Array {
  return typeof path === "string" ? path.slice(path.lastIndexOf("/") + 1) : path.subarray(path.lastIndexOf(0x2f) + 1);
}
