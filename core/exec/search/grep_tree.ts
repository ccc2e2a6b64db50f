import { dirname } from "node:path";
import type { FileView, GrepAnswer, GrepQuery, MatchSpan } from "../../contract/search.ts";
import { FileNames } from "../../contract/file_names.ts";
import type { NamesPage, SearchEngine } from "../../engine/search.ts";
import { bytesOf, type Find, type Found, mergeFound } from "./finds.ts";
import { engineScope, type SearchJob } from "./job.ts";
import { searchIndexed, type SearchIndex } from "./index/search_index.ts";
import { Pace } from "./pace.ts";
import { Page } from "./page.ts";
import { runSearch } from "./run_search.ts";
import { startPoint } from "./start_point.ts";
import { relativeName } from "./tree_search.ts";

/** Longer lines are cut in the output, around the match: a minified file must not fill the answer. */
const LINE_LIMIT_BYTES = 2000;

/** Lines of more bytes are no answer but the first page of one: as text, in lists and as JSON they are several times as large. */
const PAGE_BYTES = 8 << 20;

/** The separator of ripgrep between groups of lines, in one file and between files. */
const SEPARATOR = "--";

/**
 * What a search may see, what git's global excludes say, and what the process remembers of trees if it lasts. Other threads help unless it is
 * `alone`, as where it is watched which functions it calls.
 */
export type Sight = {
  view: FileView;
  globalExcludes: Uint8Array | undefined;
  index?: SearchIndex;
  alone?: boolean;
};

/** Searches one file, or all files below a folder, and answers with the page that was asked for. */
export async function grepTree(
  engine: SearchEngine,
  sight: Sight,
  query: GrepQuery,
  signal: AbortSignal,
): Promise<GrepAnswer> {
  const pace = new Pace(signal, query.timeBudgetMs);
  const first = await grepPage(engine, sight, query, pace);
  let last = first;
  // The lines in front of the offset are more than a page holds.
  while (last.next !== undefined && last.numLines === 0)
    last = await grepPage(engine, sight, { ...query, ...last.next }, pace);
  if (last === first) return first;
  const { totalFiles, numMatches, skipped, index } = first;
  return { ...last, totalFiles, numMatches, skipped, appliedOffset: query.offset, ...(index ? { index } : {}) };
}

async function grepPage(
  engine: SearchEngine,
  { view, globalExcludes, index, alone = false }: Sight,
  query: GrepQuery,
  pace: Pace,
): Promise<GrepAnswer> {
  const start = startPoint(query.path, view);
  const job: SearchJob = {
    start: query.path,
    grep: engineQuery(query),
    gather: GATHERS[query.mode],
    scope: engineScope(query, view),
    // One more than the page holds: then it is known whether there is more.
    keep: query.headLimit === 0 ? 0 : query.offset + query.headLimit + 1,
    keepBytes: query.pageBytes ?? PAGE_BYTES,
    ...(query.from === undefined ? {} : { from: { path: query.from, lines: query.offset } }),
    hidden: view.hidden,
    noIgnoreKinds: query.noIgnoreKinds ?? [],
    ...(query.relativeTo === undefined ? {} : { relativeTo: query.relativeTo }),
    ...(globalExcludes === undefined ? {} : { globalExcludes }),
    alone,
  };
  const { found, note } = await searchIndexed(index, {
    job,
    start,
    remembers: view.mayRead === undefined && query.from === undefined,
    search: (told, known) => runSearch(engine, told, { view, pace, start, known }),
    isWhole: () => !pace.isOver,
  });
  const whole = mergeFound(found);
  const { skipped } = whole;
  const shown = query.mode === "content" ? showLines(query, whole) : showNames(query, namesOf(engine, query, start));
  const answer = { ...shown, skipped, ...(note ? { index: note } : {}) };
  if (!pace.isOver) return answer;
  // What follows can't be told of a search that did not see all that comes before.
  const { next: _, ...seen } = answer;
  return { ...seen, partial: "time_budget" };
}

/** The modes in the component's words. */
const ENGINE_MODES = {
  content: "content",
  files_with_matches: "files-with-matches",
  files_without_match: "files-without-match",
  count: "count",
  count_matches: "count-matches",
} as const;

/** What is gathered of files that match: where lines are wanted, they are told of. */
const GATHERS = {
  content: "nothing",
  files_with_matches: "names",
  files_without_match: "names",
  count: "counts",
  count_matches: "counts",
} as const;

function engineQuery(query: GrepQuery): NonNullable<SearchJob["grep"]> {
  return {
    pattern: query.pattern,
    fixed: query.fixed ?? false,
    letterCase: query.letterCase,
    word: query.word ?? false,
    multiline: query.multiline,
    mode: ENGINE_MODES[query.mode],
    before: query.before,
    after: query.after,
    lineNumbers: query.lineNumbers,
    maxLineBytes: query.maxLineBytes ?? LINE_LIMIT_BYTES,
    spans: query.spans ?? false,
    invert: query.invert ?? false,
    maxCount: query.maxCount ?? 0,
    onlyMatching: query.onlyMatching ?? false,
  };
}

type Answer = Omit<GrepAnswer, "skipped">;

/** The page of names, relative where they are wanted so, and what of each path was left out in front. */
function namesOf(engine: SearchEngine, { offset, headLimit, path, relativeTo }: GrepQuery, start: "file" | "folder") {
  const base = relativeTo ?? (start === "file" ? dirname(path) : path);
  const page = engine.page({ offset, limit: headLimit, base, newest: false });
  return { ...page, folder: relativeTo !== undefined ? "" : base === "/" ? "/" : `${base}/` };
}

function showNames(
  { mode, offset, headLimit, contentLines }: GrepQuery,
  names: NamesPage & { folder: string },
): Answer {
  const page = new Page(offset, headLimit);
  page.take(names.total);
  const filenames = new FileNames(names);
  const counts = GATHERS[mode] === "counts" ? names.numbers : new Float64Array(0);
  const content = [...counts].map((count, at) => `${filenames.list()[at]}:${count}`);
  return {
    mode,
    numFiles: filenames.length,
    filenames,
    content: content.join("\n"),
    ...(contentLines ? { contentLines: content } : {}),
    numLines: content.length,
    numMatches: counts.reduce((sum, count) => sum + count, 0),
    totalFiles: names.total,
    ...page.applied,
  };
}

/** What of the whole result the answer holds. */
type Shown = { page: Page; filenames: string[]; content: string[]; spans: MatchSpan[] };

function showLines(query: GrepQuery, whole: Found): Answer {
  const { totalFiles, totalMatches } = whole;
  const page = new Page(query.offset, query.headLimit);
  const shown: Shown = { page, filenames: [], content: [], spans: [] };
  const next = takeAll(shown, whole, query);
  return {
    mode: query.mode,
    numFiles: shown.filenames.length,
    filenames: FileNames.of(shown.filenames),
    content: shown.content.join("\n"),
    ...(query.contentLines ? { contentLines: shown.content } : {}),
    numLines: shown.content.length,
    numMatches: totalMatches,
    totalFiles,
    ...(query.spans ? { spans: shown.spans } : {}),
    ...page.applied,
    ...(next ? { next, truncated: true } : {}),
  };
}

/** Takes what is on the page. Returns where the next one begins if there is more than its bytes hold. */
function takeAll(shown: Shown, { finds, hasMore }: Found, query: GrepQuery): GrepAnswer["next"] {
  const { page } = shown;
  const { offset, pageBytes = PAGE_BYTES } = query;
  let bytes = 0;
  for (const [at, find] of finds.entries()) {
    if (page.isFull) break;
    takeLines(shown, find, query);
    bytes += bytesOf(find);
    if (bytes < pageBytes || page.isFull) continue;
    if (!hasMore && !find.isCut && at + 1 === finds.length) break;
    return { from: find.path, offset: Math.max(page.seen, offset) - (page.seen - find.weight) };
  }
  return undefined;
}

function takeLines(shown: Shown, find: Find, { before, after, relativeTo }: GrepQuery): void {
  const { page } = shown;
  // Nothing is shown of matches that are empty where only matches are wanted.
  if (find.weight === 0) return;
  if ((before > 0 || after > 0) && !page.isEmpty) keepLines(shown, [SEPARATOR]);
  if (page.isFull) return;
  const first = shown.content.length;
  const name = relativeName(find.path, relativeTo);
  page.take(find.dropped ?? 0);
  if (find.text === undefined) return;
  const { from, to } = keepLines(shown, linesOf(find.text, name));
  if (from >= to) return;
  shown.filenames.push(name);
  for (const span of find.spans ?? []) {
    if (span.at >= from && span.at < to) shown.spans.push({ ...span, at: first + span.at - from });
  }
}

/** Keeps those of the lines that are on the page. Returns which of them are. */
function keepLines(shown: Shown, lines: readonly string[]): { from: number; to: number } {
  const { from, to } = shown.page.take(lines.length);
  for (const line of lines.slice(from, to)) shown.content.push(line);
  return { from, to };
}

/** The lines of one file, each after the file's name. A name that has a line end in it does not make two of a line. */
function linesOf(text: string, name: string): string[] {
  const pieces = text.split("\n");
  const piecesOfName = name.split("\n").length;
  if (piecesOfName === 1) return pieces;
  const lines: string[] = [];
  for (let at = 0; at < pieces.length; ) {
    const line = pieces.slice(at, at + piecesOfName).join("\n");
    const isNamed = line.startsWith(name);
    lines.push(isNamed ? line : (pieces[at] ?? ""));
    at += isNamed ? piecesOfName : 1;
  }
  return lines;
}
