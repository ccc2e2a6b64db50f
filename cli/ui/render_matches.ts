import type { FileNames } from "@cordon/core/contract";
import { paint } from "./messages.ts";
import { visibleText } from "./visible_text.ts";

/** What of an answer of grep_search is shown: its shape with `content_lines`. */
export type GrepOutput = {
  mode: "content" | "files_with_matches" | "files_without_match" | "count" | "count_matches";
  filenames: FileNames;
  content: string[] | string;
  numFiles: number;
  spans?: { at: number; line: number; column: number; bytes: number }[];
  skipped?: { tooLarge: number; unreadable: number; unreadableNames?: string[] };
  partial?: string;
  next?: { from: string; offset: number };
};

/**
 * How it is shown. `nameOf` makes the name to show of a path; `folderOf` of a folder, with a slash behind it, if that goes for all paths below it; `named`: with names; `grouped`: each file's name above its lines, as
 * ripgrep shows them on a terminal; `perMatch`: a line for each match, with its own column; `nullAfterName`: a NUL byte stands for the
 * sign or the line end after a name.
 */
export type SearchView = {
  nameOf: (path: string) => string;
  folderOf: (folder: string) => string | undefined;
  coloured: boolean;
  grouped: boolean;
  named: boolean;
  lineNumbers: boolean;
  columns: boolean;
  perMatch: boolean;
  nullAfterName: boolean;
  terminal: boolean;
};

/** ripgrep's colours. */
const COLOUR = { name: "35", number: "32", match: "1;31" } as const;

/** Names, each on a line. No text is made of them, and their bytes are what they are, unless a terminal is to be kept from obeying them. */
export function renderNames(names: FileNames, view: SearchView): string | Uint8Array {
  const end = view.nullAfterName ? "\0" : "\n";
  const bytes = view.terminal || view.coloured ? undefined : names.lines(view.folderOf, end);
  return (
    bytes ??
    names
      .list()
      .map((path) => `${shownName(path, view)}${end}`)
      .join("")
  );
}

/** Lines or counts as ripgrep prints them, line ends and all. `shownLast` is the file whose lines were shown last, if these follow them. */
export function renderMatches(output: GrepOutput, view: SearchView, shownLast = ""): string {
  const { mode } = output;
  const filenames = output.filenames.list();
  const content = typeof output.content === "string" ? output.content.split("\n") : output.content;
  const lines =
    mode === "content"
      ? renderLines(content, { ...output, filenames, shownLast }, view)
      : renderCounts(content, filenames, view);
  return lines.map((line) => `${line}\n`).join("");
}

function renderCounts(content: readonly string[], filenames: readonly string[], view: SearchView): string[] {
  return content.map((line, at) => {
    const count = line.slice(line.lastIndexOf(":") + 1);
    return view.named ? `${shownName(filenames[at] ?? "", view)}${afterName(":", view)}${count}` : count;
  });
}

type Line = { path: string; number: string; mark: string; text: string } | "separator";

/** Where a match is in its line, in bytes. */
type Part = { start: number; end: number };

function renderLines(
  content: readonly string[],
  output: Pick<GrepOutput, "spans"> & { filenames: readonly string[]; shownLast: string },
  view: SearchView,
): string[] {
  const spans = new Map<number, Part[]>();
  for (const { at, column, bytes } of output.spans ?? []) {
    spans.set(at, [...(spans.get(at) ?? []), { start: column - 1, end: column - 1 + bytes }]);
  }
  const shown: string[] = [];
  let path = output.shownLast;
  for (const [at, line] of takeApart(content, output.filenames).entries()) {
    if (line === "separator") {
      shown.push("--");
      continue;
    }
    if (view.grouped && line.path !== path) {
      // Where a file begins, a blank line stands for the separator.
      if (shown.at(-1) === "--") shown.pop();
      shown.push(...(path === "" ? [] : [""]), ...heading(line.path, view));
    }
    path = line.path;
    const parts = spans.get(at) ?? [];
    if (view.perMatch && parts.length > 0) shown.push(...parts.map((part) => renderLine(line, [part], view)));
    else shown.push(renderLine(line, parts, view));
  }
  return shown;
}

function heading(path: string, view: SearchView): string[] {
  return view.named ? [`${shownName(path, view)}${view.nullAfterName ? "\0" : ""}`] : [];
}

function renderLine(line: Exclude<Line, "separator">, parts: readonly Part[], view: SearchView): string {
  const [first] = parts;
  const name = view.grouped || !view.named ? "" : `${shownName(line.path, view)}${afterName(line.mark, view)}`;
  const number = view.lineNumbers ? `${painted(COLOUR.number, line.number, view)}${line.mark}` : "";
  const column = view.columns && first !== undefined ? `${first.start + 1}${line.mark}` : "";
  return `${name}${number}${column}${paintedMatches(line.text, parts, view)}`;
}

function afterName(mark: string, { nullAfterName }: SearchView): string {
  return nullAfterName ? "\0" : mark;
}

/** Lines are `path:number:text` where they match and `path-number-text` around; the paths are those of the answer, in order. */
function takeApart(content: readonly string[], filenames: readonly string[]): Line[] {
  let file = 0;
  return content.map((line) => {
    const parts = partsOf(line, filenames[file]) ?? partsOf(line, filenames[file + 1]);
    if (parts === undefined) return "separator";
    if (parts.path !== filenames[file]) file += 1;
    return parts;
  });
}

function partsOf(line: string, path: string | undefined): Exclude<Line, "separator"> | undefined {
  if (path === undefined || !line.startsWith(path)) return undefined;
  const found = /^([:-])(\d+)\1/.exec(line.slice(path.length));
  const [head, mark, number] = found ?? [];
  if (head === undefined || mark === undefined || number === undefined) return undefined;
  return { path, number, mark, text: line.slice(path.length + head.length) };
}

/**
 * Spans are in bytes of the line in the file. A line that was cut, or whose bytes are not all UTF-8, is shown without colours: its
 * bytes are not where they were. Where only the match is shown, all of the text is it.
 */
function paintedMatches(text: string, parts: readonly Part[], view: SearchView): string {
  if (!view.coloured || parts.length === 0 || / bytes cut/.test(text) || text.includes("\uFFFD"))
    return safe(text, view);
  const bytes = Buffer.from(text);
  const [only] = parts;
  if (parts.length === 1 && only !== undefined && only.end - only.start === bytes.length && bytes.length > 0)
    return painted(COLOUR.match, safe(text, view), view);
  const piece = (start: number, end: number) => safe(bytes.subarray(start, end).toString("utf8"), view);
  let shown = "";
  let from = 0;
  for (const { start, end } of parts) {
    shown += piece(from, start) + (end > start ? painted(COLOUR.match, piece(start, end), view) : "");
    from = Math.max(from, end);
  }
  return shown + piece(from, bytes.length);
}

function shownName(path: string, view: SearchView): string {
  return painted(COLOUR.name, safe(view.nameOf(path), view), view);
}

/** On a terminal, what it would obey or hide is written out; tabs stay. A pipe gets the text as it is. */
function safe(text: string, { terminal }: SearchView): string {
  return terminal ? text.split("\t").map(visibleText).join("\t") : text;
}

function painted(sgr: string, text: string, { coloured }: SearchView): string {
  return coloured ? paint(sgr, text) : text;
}
