import { paint } from "./messages.ts";
import { visibleText } from "./visible_text.ts";

/** What of an answer of grep_search is shown: its shape with `content_lines`. */
export type GrepOutput = {
  mode: "content" | "files_with_matches" | "count";
  filenames: string[];
  content: string[] | string;
  numFiles: number;
  spans?: { at: number; line: number; column: number; bytes: number }[];
  skipped?: { tooLarge: number; unreadableNames?: string[] };
  partial?: string;
};

/** How it is shown. `grouped`: each file's name stands above its lines, as ripgrep shows them on a terminal. */
export type SearchView = { cwd: string; coloured: boolean; grouped: boolean; lineNumbers: boolean; terminal: boolean };

/** ripgrep's colours. */
const COLOUR = { name: "35", number: "32", match: "1;31" } as const;

/** The lines of an answer as ripgrep prints them, without a line end at the end. */
export function renderMatches(output: GrepOutput, view: SearchView): string {
  const show = (path: string) => painted(COLOUR.name, shownName(path, view), view);
  if (output.mode === "files_with_matches") return output.filenames.map(show).join("\n");
  const content = typeof output.content === "string" ? output.content.split("\n") : output.content;
  if (output.mode === "count") {
    return content
      .map((line, at) => `${show(output.filenames[at] ?? "")}${line.slice(line.lastIndexOf(":"))}`)
      .join("\n");
  }
  return renderLines(content, output, view);
}

type Line = { path: string; number: string; mark: string; text: string } | "separator";

function renderLines(content: readonly string[], output: GrepOutput, view: SearchView): string {
  const spans = new Map<number, { start: number; end: number }[]>();
  for (const { at, column, bytes } of output.spans ?? []) {
    spans.set(at, [...(spans.get(at) ?? []), { start: column - 1, end: column - 1 + bytes }]);
  }
  const shown: string[] = [];
  let path = "";
  for (const [at, line] of takeApart(content, output.filenames).entries()) {
    if (line === "separator") {
      shown.push("--");
      continue;
    }
    if (view.grouped && line.path !== path) {
      // Where a file begins, a blank line stands for the separator.
      if (shown.at(-1) === "--") shown.pop();
      shown.push(...(path === "" ? [] : [""]), painted(COLOUR.name, shownName(line.path, view), view));
    }
    path = line.path;
    const name = view.grouped ? "" : `${painted(COLOUR.name, shownName(path, view), view)}${line.mark}`;
    const number = view.lineNumbers ? `${painted(COLOUR.number, line.number, view)}${line.mark}` : "";
    shown.push(`${name}${number}${paintedMatches(line.text, spans.get(at) ?? [], view)}`);
  }
  return shown.join("\n");
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

/** Spans are in bytes. A line that was cut is shown without colours: its bytes are not where they were. */
function paintedMatches(text: string, spans: readonly { start: number; end: number }[], view: SearchView): string {
  if (spans.length === 0 || / bytes cut/.test(text)) return safe(text, view);
  const bytes = Buffer.from(text);
  const piece = (start: number, end: number) => safe(bytes.subarray(start, end).toString("utf8"), view);
  let shown = "";
  let from = 0;
  for (const { start, end } of spans) {
    shown += piece(from, start) + (end > start ? painted(COLOUR.match, piece(start, end), view) : "");
    from = Math.max(from, end);
  }
  return shown + piece(from, bytes.length);
}

function shownName(path: string, view: SearchView): string {
  const base = view.cwd === "/" ? "/" : `${view.cwd}/`;
  return safe(path.startsWith(base) ? path.slice(base.length) : path, view);
}

/** On a terminal, what it would obey or hide is written out; tabs stay. A pipe gets the text as it is. */
function safe(text: string, { terminal }: SearchView): string {
  return terminal ? text.split("\t").map(visibleText).join("\t") : text;
}

function painted(sgr: string, text: string, { coloured }: SearchView): string {
  return coloured ? paint(sgr, text) : text;
}
