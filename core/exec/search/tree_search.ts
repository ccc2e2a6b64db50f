import { basename, dirname } from "node:path";
import { ENDED, type SearchEngine } from "../../engine/search.ts";
import type { MatchSpan, ReadRules } from "../../contract/search.ts";
import { badPattern, badScope, refusing } from "./faults.ts";
import type { FileCalls, NamePlace, OpenFolder } from "./file_calls.ts";
import { byPath, bytesOf, type Find, type Found, Finds } from "./finds.ts";
import { FolderNumbers } from "./folder_numbers.ts";
import type { SearchJob } from "./job.ts";
import { childOf, type RealPath, shownPath } from "./real_path.ts";
import { FolderByFolder, realPath, Tour, type TreeWalk } from "./tree_walk.ts";

/** What an entry of a choice is, by the third number of it. */
const KIND = { file: 0, folder: 1, leftOut: 2 } as const;

/** What one thread of a search works with. */
export type SearchParts = {
  engine: SearchEngine;
  files: FileCalls;
  job: SearchJob;
  /** Asked for all files and folders where there are rules that are no data. */
  mayRead: ReadRules["mayRead"] | undefined;
};

/** One thread's part of a search: the folders that it is given are listed, filtered, and their files searched. */
export class TreeSearch {
  readonly finds: Finds;
  readonly #parts: SearchParts;
  readonly #numbers: FolderNumbers;
  /** The lines so far of a long file that is not over. */
  #part: Find | undefined;
  /** Closed names by the folder they are in. */
  readonly #hidden = new Map<string, Set<string>>();

  /** Compiles the query. Throws `search.bad_pattern`, `search.bad_glob` or `search.bad_type`. */
  constructor(parts: SearchParts) {
    const { engine, job, mayRead } = parts;
    this.#parts = parts;
    engine.link(parts.files.filesOf(engine), parts.files.foldersOf?.(engine));
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
    this.#numbers = new FolderNumbers(engine, job, (path) => mayRead?.([path]) ?? true);
    engine.startNames(job.gather);
    this.finds = new Finds(job.keep, job.keepBytes);
  }

  /** The way through the folders: the component's own wherever nothing must be judged or asked for here. */
  walk(): TreeWalk {
    const { engine, files, job, mayRead } = this.#parts;
    if (files.foldersOf === undefined || mayRead !== undefined || job.from !== undefined)
      return new FolderByFolder((folder, push) => this.visitFolder(folder, push));
    engine.startTour(job.grep === undefined, job.hidden);
    return new Tour(engine, this.#numbers, {
      tell: (folder, entry, ended) => this.#tell(() => childOf(folder, realPath(engine.nameOf(entry))), ended),
      unreadable: (folder) => this.finds.skipUnreadable(shownPath(folder)),
    });
  }

  /** What this thread found, for another one. */
  found(): Found {
    const { engine, job } = this.#parts;
    const found = job.listing === undefined ? this.finds.found : { ...this.finds.found, noted: engine.noted() };
    return job.gather === "nothing" ? found : { ...found, names: engine.gathered() };
  }

  /** Searches the files of a folder and hands the folders in it on. Yields now and then, and goes on when asked to. */
  *visitFolder(path: RealPath, push: (folder: RealPath) => void): Generator<undefined, void, undefined> {
    const { engine, files, job } = this.#parts;
    // What is counted is all there is, but where an answer goes on: then a page is to cost what is on it.
    if (job.from !== undefined && this.finds.isBeyond({ path: shownPath(path) })) return;
    const folder = files.openFolder(engine, path);
    if (folder === undefined) {
      this.finds.skipUnreadable(shownPath(path));
      return;
    }
    try {
      const number = this.#numbers.enter(path, engine.survey(folder.bytes));
      const order = engine.filter(number, folder.bytes);
      yield* this.#leaveOut(folder, order);
      const inner: RealPath[] = [];
      for (let place = 0; place < order.length; place += 3) {
        if (order[place + 2] === KIND.folder) inner.push(childOf(path, this.#nameAt(nameIn(order, place))));
      }
      if (job.gather !== "nothing") engine.namesFolder(path);
      yield* this.#visitFiles(folder, order);
      // The last pushed is visited first: so the order of the visit is nearly that of the paths.
      for (const child of inner.reverse()) push(child);
    } finally {
      files.closeFolder(folder);
    }
  }

  /** Searches one file, whatever ignore files say. Yields now and then. */
  *visitOneFile(path: string): Generator<undefined, void, undefined> {
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
      const order = Uint32Array.of(folder.bytes, name.length - 1, KIND.file);
      engine.choose(folder.bytes, name.length - 1);
      engine.namesFolder(dirname(path));
      yield* this.#visitFiles(folder, order);
    } finally {
      files.closeFolder(folder);
    }
  }

  /** True where an answer goes on and the lines of a file whose search is not over fill it. */
  get hasPage(): boolean {
    return this.#parts.job.from !== undefined && this.#part?.isCut === true;
  }

  /** Takes what was found of a file in whose middle the search ended. */
  takePart(): void {
    if (this.#part !== undefined) this.finds.take(this.#part);
    this.#part = undefined;
  }

  /** Entries that the policy hides, or that stand before where an answer goes on, become nothing that is visited. Yields after each question. */
  *#leaveOut(folder: OpenFolder, order: Uint32Array): Generator<undefined, void, undefined> {
    const { engine, mayRead } = this.#parts;
    const closed = this.#hidden.get(shownPath(folder.path));
    const isBefore = this.#beforeIn(folder.path);
    if (closed === undefined && mayRead === undefined && isBefore === undefined) return;
    const leaveOut = (place: number) => {
      order[place + 2] = KIND.leftOut;
      engine.leaveOut(place / 3);
    };
    const judged: Judged[] = [];
    for (let place = 0; place < order.length; place += 3) {
      const name = this.#nameAt(nameIn(order, place));
      const shown = shownPath(name);
      if (closed?.has(shown) === true || isBefore?.(shown) === true) leaveOut(place);
      else if (mayRead !== undefined) judged.push({ place, path: shownPath(childOf(folder.path, name)) });
    }
    for (let at = 0; mayRead !== undefined && at < judged.length; at += ASKED_AT_ONCE) {
      for (const { place } of refusedOf(judged.slice(at, at + ASKED_AT_ONCE), mayRead)) leaveOut(place);
      if (at + ASKED_AT_ONCE < judged.length) yield;
    }
  }

  /** Whether an entry of the folder stands before where an answer goes on. Undefined if that is not in the folder: then none does. */
  #beforeIn(folder: RealPath): ((name: string) => boolean) | undefined {
    const from = this.#parts.job.from?.path;
    if (from === undefined) return undefined;
    const base = shownPath(childOf(folder, ""));
    if (!from.startsWith(base)) return undefined;
    return (name) =>
      byPath({ path: name }, { path: from.slice(base.length) }) < 0 && !from.startsWith(`${base}${name}/`);
  }

  #visitFiles(folder: OpenFolder, order: Uint32Array): Generator<undefined, void, undefined> {
    return this.#parts.job.grep === undefined ? this.#listFiles(folder, order) : this.#searchFiles(folder, order);
  }

  *#listFiles(folder: OpenFolder, order: Uint32Array): Generator<undefined, void, undefined> {
    for (let start = 0; start * 3 < order.length; ) {
      start = this.#parts.engine.list(folder.handle, start);
      if (start * 3 < order.length) yield;
    }
  }

  *#searchFiles(folder: OpenFolder, order: Uint32Array): Generator<undefined, void, undefined> {
    const { engine } = this.#parts;
    let start = 0;
    try {
      while (start * 3 < order.length) {
        const { next, told } = engine.visit(folder.handle, start);
        for (let at = 0; at < told.length; at += 2) {
          this.#tell(() => childOf(folder.path, this.#nameAt(nameIn(order, (told[at] ?? 0) * 3))), told[at + 1] ?? 0);
        }
        start = next;
        if (start * 3 < order.length) yield;
      }
    } finally {
      // A long file may be open.
      if (start * 3 < order.length) engine.leave();
    }
  }

  #tell(pathOf: () => RealPath, ended: number): void {
    const { skipped } = this.finds.found;
    if (ended === ENDED.part) {
      this.#part ??= { path: shownPath(pathOf()), weight: 0, matches: 0 };
      this.#addLines(this.#part);
      return;
    }
    const part = this.#part;
    this.#part = undefined;
    if (ended === ENDED.binary) skipped.binary += 1;
    else if (ended === ENDED.tooLarge) skipped.tooLarge += 1;
    else if (ended === ENDED.unreadable) this.finds.skipUnreadable(shownPath(pathOf()));
    else {
      const find = part ?? { path: shownPath(pathOf()), weight: 0, matches: 0 };
      this.#addLines(find);
      this.finds.take({ ...find, matches: ended });
    }
  }

  /** Adds the lines to a find that the component has ready, as far as they can be on the page. */
  #addLines(find: Find): void {
    const { engine, job } = this.#parts;
    const left = job.keep === 0 ? 0 : job.keep - find.weight;
    if (find.isCut || left < 0 || (left === 0 && job.keep > 0) || this.finds.isBeyond(find)) return;
    const { text, lines, matches, spans } = engine.grep.render(relativeName(find.path, job.relativeTo), left);
    find.matches += matches;
    if (lines === 0) return;
    const before = find.weight;
    find.weight += lines;
    if (job.from?.path === find.path && find.weight <= job.from.lines) {
      find.dropped = find.weight;
      return;
    }
    if (job.grep?.spans) find.spans = [...(find.spans ?? []), ...readSpans(spans, before - (find.dropped ?? 0))];
    find.text = find.text === undefined ? text : `${find.text}\n${text}`;
    find.isCut = job.keepBytes !== undefined && bytesOf(find) >= job.keepBytes;
  }

  #nameAt({ at, bytes }: NamePlace): RealPath {
    // A copy: not all decoders take a view of linear memory.
    return realPath(this.#parts.engine.entries(0).slice(at, at + bytes));
  }
}

/** An entry of a choice by its place there. */
type Judged = { place: number; path: string };

/** A question takes longer than a path in it, and an answer is not to be waited for long. */
const ASKED_AT_ONCE = 64;

/** Those that may not be read: where not all may, each half is asked about, down to the single one, whose answer holds. */
function refusedOf(judged: Judged[], mayRead: ReadRules["mayRead"]): Judged[] {
  if (judged.length === 0 || mayRead(judged.map(({ path }) => path))) return [];
  if (judged.length === 1) return judged;
  const middle = judged.length >> 1;
  return [...refusedOf(judged.slice(0, middle), mayRead), ...refusedOf(judged.slice(middle), mayRead)];
}

function nameIn(order: Uint32Array, place: number): NamePlace {
  return { at: order[place] ?? 0, bytes: order[place + 1] ?? 0 };
}

/** The name that an answer shows: relative to a folder if it is below it. */
export function relativeName(path: string, relativeTo: string | undefined): string {
  if (relativeTo === undefined) return path;
  const base = relativeTo === "/" ? "/" : `${relativeTo}/`;
  return path.startsWith(base) ? path.slice(base.length) : path;
}

/** The fours of numbers of `rendered.spans` in search.wit, of lines before which there are others. */
function readSpans(numbers: Uint32Array, before: number): MatchSpan[] {
  const spans: MatchSpan[] = [];
  for (let place = 0; place + 3 < numbers.length; place += 4) {
    const [at = 0, line = 0, start = 0, end = 0] = numbers.subarray(place, place + 4);
    spans.push({ at: before + at, line, column: start + 1, bytes: end - start });
  }
  return spans;
}
