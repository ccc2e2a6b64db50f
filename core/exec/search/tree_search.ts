import { basename, dirname } from "node:path";
import { BINARY, type SearchEngine } from "../../engine/search.ts";
import type { MatchSpan } from "../../contract/search.ts";
import { badPattern, badScope, refusing } from "./faults.ts";
import type { FileCalls, NamePlace, OpenFolder } from "./file_calls.ts";
import { byAge, byPath, type Find, Finds } from "./finds.ts";
import { FolderNumbers } from "./folder_numbers.ts";
import type { SearchJob } from "./job.ts";
import { childOf, isLossy, type RealPath, shownPath } from "./real_path.ts";

/** After so many files the caller may look at other things. */
const FILES_BETWEEN_LOOKS = 16;

/** What one thread of a search works with. */
export type SearchParts = {
  engine: SearchEngine;
  files: FileCalls;
  job: SearchJob;
  /** Asked for each file and folder where there are rules that are no data. */
  mayRead: ((path: string) => boolean) | undefined;
};

/** One thread's part of a search: the folders that it is given are listed, filtered, and their files searched. */
export class TreeSearch {
  readonly finds: Finds;
  readonly #parts: SearchParts;
  readonly #numbers: FolderNumbers;
  /** Closed names by the folder they are in. */
  readonly #hidden = new Map<string, Set<string>>();
  // A byte order mark at the front of a name is part of it.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  /** Compiles the query. Throws `search.bad_pattern`, `search.bad_glob` or `search.bad_type`. */
  constructor(parts: SearchParts) {
    const { engine, job, mayRead } = parts;
    this.#parts = parts;
    const { grep, scope } = job;
    if (grep !== undefined) {
      refusing(
        () => engine.grep.compile(grep),
        (fault) => badPattern(grep.pattern, fault),
      );
    }
    refusing(
      () => engine.startWalk(scope),
      (fault) => badScope(scope, fault),
    );
    for (const path of job.hidden) {
      const folder = dirname(path);
      this.#hidden.set(folder, (this.#hidden.get(folder) ?? new Set()).add(basename(path)));
    }
    this.#numbers = new FolderNumbers(engine, job, (path) => mayRead?.(path) ?? true);
    this.finds = new Finds(job.keep, grep === undefined ? byAge : byPath);
  }

  /** Searches the files of a folder and hands the folders in it on. Yields now and then, and goes on when asked to. */
  *visitFolder(path: RealPath, push: (folder: RealPath) => void): Generator<undefined, void, undefined> {
    const { engine, files } = this.#parts;
    const folder = files.openFolder(engine, path);
    if (folder === undefined) {
      this.finds.skipUnreadable(shownPath(path));
      return;
    }
    try {
      const number = this.#numbers.enter(path, engine.survey(folder.bytes));
      const order = engine.filter(number, folder.bytes);
      const closed = this.#hidden.get(shownPath(path));
      const inner: RealPath[] = [];
      for (let place = 0; place < order.length; place += 3) {
        const name = { at: order[place] ?? 0, bytes: order[place + 1] ?? 0 };
        if (!this.#isOpen(folder, name, closed)) continue;
        if (order[place + 2] === 1) inner.push(childOf(path, this.#nameAt(name)));
        else this.#visitFile(folder, name);
        if ((place / 3) % FILES_BETWEEN_LOOKS === FILES_BETWEEN_LOOKS - 1) yield;
      }
      // The last pushed is visited first: so the order of the visit is nearly that of the paths.
      for (const child of inner.reverse()) push(child);
    } finally {
      files.closeFolder(folder);
    }
  }

  /** Searches one file, whatever ignore files say. */
  visitOneFile(path: string): void {
    const { engine, files } = this.#parts;
    const folder = files.openFolder(engine, dirname(path));
    if (folder === undefined) {
      this.finds.skipUnreadable(path);
      return;
    }
    try {
      // After the entries, which nobody asks for here.
      const name = new TextEncoder().encode(`${basename(path)}\0`);
      engine.entries(folder.bytes + name.length).set(name, folder.bytes);
      this.#visitFile(folder, { at: folder.bytes, bytes: name.length - 1 });
    } finally {
      files.closeFolder(folder);
    }
  }

  #isOpen(folder: OpenFolder, name: NamePlace, closed: Set<string> | undefined): boolean {
    const { mayRead } = this.#parts;
    if (closed === undefined && mayRead === undefined) return true;
    const text = this.#nameAt(name);
    if (closed?.has(shownPath(text)) === true) return false;
    return mayRead?.(shownPath(childOf(folder.path, text))) ?? true;
  }

  #visitFile(folder: OpenFolder, name: NamePlace): void {
    const { engine, files, job } = this.#parts;
    if (job.grep === undefined) {
      const changedMs = files.changedMs(engine, folder, name);
      if (changedMs !== undefined)
        this.finds.take({ path: this.#pathOf(folder, name), weight: 1, matches: 0, changedMs });
      return;
    }
    const loaded = files.load(engine, folder, name);
    const { skipped } = this.finds.found;
    if (loaded === 0) return;
    if (loaded === "unreadable") this.finds.skipUnreadable(this.#pathOf(folder, name));
    else if (loaded === "too_large") skipped.tooLarge += 1;
    else {
      const matches = engine.search(loaded, 0);
      if (matches === BINARY) skipped.binary += 1;
      else if (matches > 0) this.#take(this.#pathOf(folder, name), matches);
    }
  }

  #take(path: string, matches: number): void {
    const { engine, job } = this.#parts;
    const find: Find = { path, weight: 1, matches };
    if (job.grep?.mode === "content" && !this.finds.isBeyond(find)) {
      const { text, lines, spans } = engine.grep.render(relativeName(path, job.relativeTo), job.keep);
      find.text = text;
      find.weight = lines;
      if (job.grep.spans) find.spans = readSpans(spans);
    }
    this.finds.take(find);
  }

  #pathOf(folder: OpenFolder, name: NamePlace): string {
    return shownPath(childOf(folder.path, this.#nameAt(name)));
  }

  #nameAt({ at, bytes }: NamePlace): RealPath {
    // A copy: not all decoders take a view of linear memory.
    const name = this.#parts.engine.entries(0).slice(at, at + bytes);
    const text = this.#decoder.decode(name);
    return isLossy(text) ? Buffer.from(name) : text;
  }
}

/** The name that an answer shows: relative to a folder if it is below it. */
export function relativeName(path: string, relativeTo: string | undefined): string {
  if (relativeTo === undefined) return path;
  const base = relativeTo === "/" ? "/" : `${relativeTo}/`;
  return path.startsWith(base) ? path.slice(base.length) : path;
}

/** The fours of numbers of `rendered.spans` in search.wit. */
function readSpans(numbers: Uint32Array): MatchSpan[] {
  const spans: MatchSpan[] = [];
  for (let place = 0; place + 3 < numbers.length; place += 4) {
    const [at = 0, line = 0, start = 0, end = 0] = numbers.subarray(place, place + 4);
    spans.push({ at, line, column: start + 1, bytes: end - start });
  }
  return spans;
}
