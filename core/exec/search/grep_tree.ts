import type { GrepAnswer, GrepQuery } from "../../contract/search.ts";
import { BINARY, type SearchEngine } from "../../engine/search.ts";
import { badPattern, badScope, refusing } from "./faults.ts";
import { loadFile } from "./load_file.ts";
import { Pace } from "./pace.ts";
import { Page } from "./page.ts";
import { type RealPath, shownPath } from "./real_path.ts";
import { startPoint } from "./start_point.ts";
import { type Sight, type TreeWalk, walkTree } from "./walk_tree.ts";

/** Longer lines are cut in the output, around the match: a minified file must not fill the answer. */
const LINE_LIMIT_BYTES = 2000;

/** The separator of ripgrep between groups of lines, in one file and between files. */
const SEPARATOR = "--";

/** A search under way: what was asked, where it is looked for, and what was found. */
type Search = { query: GrepQuery; walk: TreeWalk; page: Page; answer: GrepAnswer; content: string[] };

/** Searches one file, or all files below a folder in path order, until the page is full. */
export async function grepTree(
  engine: SearchEngine,
  sight: Sight,
  query: GrepQuery,
  signal: AbortSignal,
): Promise<GrepAnswer> {
  const pace = new Pace(signal);
  const search = begin(engine, sight, query);
  const files = startPoint(query.path, sight.view) === "file" ? [query.path] : walkTree(search.walk, query.path);
  for (const path of files) {
    searchFile(search, path);
    if (search.page.isFull) break;
    if (pace.isDue()) await pace.breathe();
  }
  const content = search.content.join("\n");
  return { ...search.answer, content, numFiles: search.answer.filenames.length, ...search.page.applied };
}

function begin(engine: SearchEngine, sight: Sight, query: GrepQuery): Search {
  const { glob, type } = query;
  refusing(
    () => engine.grep.compile(engineQuery(query)),
    (fault) => badPattern(query.pattern, fault),
  );
  const scope = {
    ...(glob === undefined ? {} : { glob }),
    ...(type === undefined ? {} : { fileType: type }),
    hidden: query.includeHidden ?? false,
  };
  refusing(
    () => engine.walk.start(scope),
    (fault) => badScope({ glob, type }, fault),
  );
  const skipped = { binary: 0, unreadable: 0, tooLarge: 0 };
  return {
    query,
    walk: { ...sight, engine, skipped },
    page: new Page(query.offset, query.headLimit),
    answer: {
      mode: query.mode,
      numFiles: 0,
      filenames: [],
      content: "",
      numLines: 0,
      numMatches: 0,
      truncated: false,
      skipped,
    },
    content: [],
  };
}

function engineQuery(query: GrepQuery): Parameters<SearchEngine["grep"]["compile"]>[0] {
  return {
    pattern: query.pattern,
    fixed: query.fixed ?? false,
    ignoreCase: query.ignoreCase,
    multiline: query.multiline,
    mode: query.mode === "files_with_matches" ? "files-with-matches" : query.mode,
    before: query.before,
    after: query.after,
    lineNumbers: query.lineNumbers,
    maxLineBytes: LINE_LIMIT_BYTES,
  };
}

function searchFile(search: Search, path: RealPath): void {
  const { engine, skipped } = search.walk;
  const loaded = loadFile(engine, path);
  if (loaded === 0) return;
  if (loaded === "unreadable") skipped.unreadable += 1;
  else if (loaded === "too_large") skipped.tooLarge += 1;
  else {
    const matches = engine.search(loaded, search.query.mode === "content" ? search.page.budget : 0);
    if (matches === BINARY) skipped.binary += 1;
    else if (matches > 0) TAKE[search.query.mode](search, nameOf(search.query, path), matches);
  }
}

const TAKE = {
  content: takeLines,
  count: takeCount,
  files_with_matches: takeName,
} satisfies Record<GrepQuery["mode"], (search: Search, name: string, matches: number) => void>;

function takeName({ page, answer }: Search, name: string): void {
  const { from, to } = page.take(1);
  if (from < to) answer.filenames.push(name);
}

function takeCount({ page, answer, content }: Search, name: string, matches: number): void {
  const { from, to } = page.take(1);
  if (from >= to) return;
  answer.filenames.push(name);
  answer.numMatches += matches;
  answer.numLines += 1;
  content.push(`${name}:${matches}`);
}

function takeLines(search: Search, name: string, matches: number): void {
  const { query, page, answer } = search;
  answer.numMatches += matches;
  const grouped = query.before > 0 || query.after > 0;
  if (grouped && !page.isEmpty) keepLines(search, SEPARATOR, 1);
  if (page.isFull) return;
  const rendered = search.walk.engine.grep.render(name, page.budget);
  if (keepLines(search, rendered.text, rendered.lines)) answer.filenames.push(name);
}

/** Keeps what is on the page of `lines` lines of text. True if any is. */
function keepLines({ page, answer, content }: Search, text: string, lines: number): boolean {
  const { from, to } = page.take(lines);
  if (from >= to) return false;
  // Most files are on the page with all their lines: only those at its edges are taken apart.
  content.push(from === 0 && to === lines ? text : text.split("\n").slice(from, to).join("\n"));
  answer.numLines += to - from;
  return true;
}

function nameOf({ relativeTo }: GrepQuery, path: RealPath): string {
  const name = shownPath(path);
  if (relativeTo === undefined) return name;
  const base = relativeTo === "/" ? "/" : `${relativeTo}/`;
  return name.startsWith(base) ? name.slice(base.length) : name;
}
