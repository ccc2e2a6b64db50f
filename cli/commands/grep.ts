import type { FileNames } from "@cordon/core/contract";
import type { Cli, Command } from "../command.ts";
import { emptyRulesDraft, foldersOf, readFlags, usageFault } from "../flags.ts";
import { spellOut } from "../short_flags.ts";
import { printHelp } from "../ui/help.ts";
import { usesColour } from "../ui/messages.ts";
import { type GrepOutput, renderMatches, renderNames, type SearchView } from "../ui/render_matches.ts";
import { writeAnswer, writeFully } from "../ui/write_fully.ts";
import { type Place, placeOf } from "./grep_files.ts";
import { GREP_FLAGS, type GrepDraft } from "./grep_flags.ts";
import { patternOf } from "./grep_pattern.ts";
import { SEARCH_EXIT, type Shown, searchCalls } from "./search_call.ts";

/** `cordon grep`: grep_search for people. */
export const command: Command<GrepDraft> = {
  name: "grep",
  summary: "Search file contents with a regular expression",
  usage: "cordon grep [flags] PATTERN [PATH …]",
  details: `Patterns, ignore files, globs, types and flags are ripgrep's. It is one call of grep_search for each PATH, on the path that all
tool calls take: rules decide, secrets are left out, the log has a row. Short flags may stand together: -il, -nC2.
Exit codes: ${SEARCH_EXIT.found} something matched, ${SEARCH_EXIT.nothing} nothing did, ${SEARCH_EXIT.failed} something went wrong, 3 the call was denied, 121 bad usage.`,
  flags: GREP_FLAGS,
  examples: [
    ["cordon grep -i 'todo|fixme' src", "in a folder"],
    ["cordon grep -t rust -C2 'fn main'", "Rust files, with context"],
    ["cordon grep -l -g '!*.test.ts' createCore", "names only, without tests"],
    ["cordon grep --files -t md", "the files that would be searched"],
  ],
  run: grep,
};

async function grep(args: readonly string[], cli: Cli): Promise<number> {
  const draft = emptyDraft();
  const words = readFlags(spellOut(args, GREP_FLAGS), draft, {
    table: GREP_FLAGS,
    words: "mixed",
    folders: foldersOf(cli),
  });
  if (draft.help) return printHelp(command);
  if (draft.patterns === undefined && !draft.listFiles) {
    const pattern = words.shift();
    if (pattern === undefined) throw usageFault("No pattern was given", "write cordon grep PATTERN [PATH …]");
    draft.patterns = [pattern];
  }
  if (draft.noneWanted || (!draft.listFiles && draft.patterns?.length === 0)) return SEARCH_EXIT.nothing;
  const places = (words.length === 0 ? [""] : words).map((written) => placeOf(written, cli));
  const view = viewOf(draft, places, cli);
  const inputs = places.map(({ written }) => ({ ...inputOf(draft, view), path: written || "." }));
  const tool = draft.listFiles ? "glob_search" : "grep_search";
  const printer = new Printer(draft, view, places);
  const code = await searchCalls({ door: "grep", tool, inputs, written: writtenOf(draft) }, { cli, draft }, (output) =>
    // The answer of the call to the tool above, in the tool's own shape.
    draft.listFiles ? printer.showFiles(output as FileList) : printer.show(output as GrepOutput),
  );
  // As in ripgrep: who only asks whether there is something has his answer.
  return draft.quiet && printer.hasFound && code === SEARCH_EXIT.failed ? SEARCH_EXIT.found : code;
}

/** The patterns as they were written. Plain texts have no faults. */
function writtenOf({ patterns = [], input }: GrepDraft): readonly string[] {
  return input["fixed_strings"] === true ? [] : patterns;
}

function emptyDraft(): GrepDraft {
  return {
    ...emptyRulesDraft(),
    input: { glob: [], iglob: [], type: [], type_not: [], output_mode: "content", head_limit: 0, line_limit_bytes: 0 },
    patterns: undefined,
    boundary: undefined,
    dotMatchesLineEnd: false,
    anyCaseGlobs: false,
    unrestricted: 0,
    lineNumbers: undefined,
    names: undefined,
    heading: undefined,
    columns: false,
    perMatch: false,
    nullAfterName: false,
    quiet: false,
    silent: false,
    listFiles: false,
    noneWanted: false,
    colour: "auto",
  };
}

function viewOf(draft: GrepDraft, places: readonly Place[], cli: Cli): SearchView {
  const terminal = cli.isTty(1);
  const isOneFile = places.length === 1 && places[0]?.isFile === true;
  return {
    nameOf: (path) => nameOf(path, places),
    folderOf: () => undefined,
    coloured: draft.colour === "always" || (draft.colour === "auto" && usesColour(cli, 1)),
    grouped: (draft.heading ?? terminal) && !draft.perMatch,
    named: draft.names ?? (draft.perMatch || !isOneFile),
    lineNumbers: draft.lineNumbers ?? (terminal || draft.columns),
    columns: draft.columns,
    perMatch: draft.perMatch,
    nullAfterName: draft.nullAfterName,
    terminal,
  };
}

/** A path of the answer as ripgrep would show it: below the PATH that it was found in, as that was written. */
function nameOf(path: string, places: readonly Place[]): string {
  for (const { written, real } of places) {
    if (path === real) return written;
    const base = real === "/" ? "/" : `${real}/`;
    if (!path.startsWith(base)) continue;
    const rest = path.slice(base.length);
    return written === "" || written.endsWith("/") ? `${written}${rest}` : `${written}/${rest}`;
  }
  return path;
}

function inputOf(draft: GrepDraft, view: SearchView): Record<string, unknown> {
  const { glob, iglob, ...rest } = draft.input;
  const globs = draft.anyCaseGlobs ? { iglob: [...glob, ...iglob] } : { glob, iglob };
  const unrestricted = {
    ...(draft.unrestricted > 0 ? { no_ignore: true } : {}),
    ...(draft.unrestricted > 1 ? { hidden: true } : {}),
  };
  if (draft.unrestricted > 2) throw usageFault("-uuu: binary files are never searched", "write -uu");
  if (draft.listFiles) {
    const { type, type_not, hidden, no_ignore } = { no_ignore: undefined, hidden: undefined, ...rest };
    const scope = { ...globs, type, type_not, hidden: hidden ?? false, no_ignore, ...unrestricted };
    return withoutEmpty({ ...scope, pattern: "**", limit: 0, order: "path" });
  }
  const { output_mode, ...others } = rest;
  const asked = output_mode === "files_without_match" ? output_mode : "files_with_matches";
  const quiet = draft.quiet ? { output_mode: asked, head_limit: 1 } : {};
  return withoutEmpty({
    ...others,
    ...globs,
    ...unrestricted,
    // As in ripgrep: what counts lines counts matches where only matches are wanted.
    output_mode: output_mode === "count" && others["only_matching"] === true ? "count_matches" : output_mode,
    ...patternOf(draft),
    word: draft.boundary === "word",
    content_lines: true,
    spans: view.coloured || view.columns,
    ...quiet,
  });
}

/** A list that is empty would mean that no file fits. */
function withoutEmpty(input: Record<string, unknown>): Record<string, unknown> {
  const isEmpty = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !isEmpty(value)));
}

/** What is read of an answer of glob_search. */
type FileList = { filenames: FileNames; unreadable?: number };

/** Prints the answers, one for each PATH, so that together they look like one. */
class Printer {
  hasFound = false;
  readonly #draft: GrepDraft;
  readonly #view: SearchView;
  readonly #places: readonly Place[];
  #place = 0;
  #hasPrinted = false;
  /** Set between two parts of one answer: the file whose lines were shown last. */
  #shownLast: string | undefined;

  constructor(draft: GrepDraft, view: SearchView, places: readonly Place[]) {
    this.#draft = draft;
    this.#view = view;
    this.#places = places;
  }

  /** Prints an answer of grep_search, or a part of one. It does not go on if nobody reads any more. */
  show(found: GrepOutput): Shown {
    const isPart = this.#shownLast !== undefined;
    const view = isPart ? this.#viewOf(this.#place - 1) : this.#viewOfNext();
    let isRead = true;
    if (!this.#draft.quiet && found.numFiles > 0) {
      const between = this.#hasPrinted && !isPart ? this.#separator(found) : "";
      const isList = found.mode === "files_with_matches" || found.mode === "files_without_match";
      const text = isList ? renderNames(found.filenames, view) : renderMatches(found, view, this.#shownLast);
      isRead = writeAnswer(typeof text === "string" ? `${between}${text}` : text);
      this.#hasPrinted = true;
    }
    const { next } = found;
    this.#shownLast = next && (found.filenames.list().at(-1) ?? this.#shownLast ?? "");
    // The first part has all there is to say of what was left out.
    if (!this.#draft.silent && !isPart) tellSkipped(found, view);
    const code = this.#codeOf(found.numFiles, isPart ? 0 : (found.skipped?.unreadable ?? 0));
    return next && isRead ? { code, next } : { code };
  }

  /** Prints an answer of glob_search. */
  showFiles({ filenames, unreadable = 0 }: FileList): Shown {
    if (!this.#draft.quiet && filenames.length > 0) writeAnswer(renderNames(filenames, this.#viewOfNext()));
    return { code: this.#codeOf(filenames.length, unreadable) };
  }

  /** The same path may be asked for twice, written in two ways: each answer is about one. */
  #viewOfNext(): SearchView {
    this.#place += 1;
    return this.#viewOf(this.#place - 1);
  }

  #viewOf(at: number): SearchView {
    const place = this.#places.slice(at, at + 1);
    // What stands in another folder than was asked for is the one file that was asked for.
    const folderOf = (folder: string) =>
      place.some(({ real }) => folder.startsWith(real)) ? nameOf(folder, place) : undefined;
    return { ...this.#view, nameOf: (path) => nameOf(path, place), folderOf };
  }

  /** Between the files of two PATHs stands what stands between those of one. */
  #separator({ mode }: GrepOutput): string {
    if (mode !== "content") return "";
    if (this.#view.grouped) return "\n";
    const { input } = this.#draft;
    const context = ["-A", "-B", "-C"].some((flag) => Number(input[flag] ?? 0) > 0);
    return context ? "--\n" : "";
  }

  #codeOf(files: number, unreadable: number): number {
    this.hasFound ||= files > 0;
    if (unreadable > 0) return SEARCH_EXIT.failed;
    return files > 0 ? SEARCH_EXIT.found : SEARCH_EXIT.nothing;
  }
}

function tellSkipped({ skipped, partial }: GrepOutput, view: SearchView): void {
  const names = skipped?.unreadableNames ?? [];
  for (const name of names) writeFully(2, `cordon: ${view.nameOf(name)}: can't be read\n`);
  const unnamed = (skipped?.unreadable ?? 0) - names.length;
  if (unnamed > 0) writeFully(2, `cordon: ${unnamed} more can't be read\n`);
  if ((skipped?.tooLarge ?? 0) > 0)
    writeFully(2, `cordon: not searched, for a line over 256 MiB, or all of it with -U: ${skipped?.tooLarge} files\n`);
  if (partial !== undefined) writeFully(2, "cordon: the time was up; there may be more\n");
}
