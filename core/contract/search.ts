import type { FileNames } from "./file_names.ts";
import type { PolicyQuestion, RuleLists } from "./verdict.ts";

/** What a search returns of each file, in ripgrep's words. */
export type GrepMode = "content" | "files_with_matches" | "files_without_match" | "count" | "count_matches";

/**
 * Ignore files that can be left aside one kind at a time: `dot` is .ignore and .rgignore, `vcs` all that git has to say, `exclude` its
 * .git/info/exclude, `global` its global excludes, `parent` those of folders above the start.
 */
export type IgnoreKind = "dot" | "exclude" | "global" | "parent" | "vcs";

/** Whether upper and lower case are the same; "smart": if the pattern has a letter and none in upper case. */
export type LetterCase = "sensitive" | "ignore" | "smart";

/**
 * Which files a search visits. `globs` have ripgrep's meaning: .gitignore syntax, relative to the start, `!` in front turns one
 * round, the last that fits decides, stronger than ignore files; `iglobs` come after them and take upper and lower case for the
 * same. `types` and `typesNot` are names of ripgrep's type list.
 */
export type SearchScope = {
  globs?: readonly string[];
  iglobs?: readonly string[];
  globIgnoreCase?: boolean;
  types?: readonly string[];
  typesNot?: readonly string[];
  includeHidden?: boolean;
  noIgnore?: boolean;
  noIgnoreKinds?: readonly IgnoreKind[];
};

/**
 * One search through file contents. `path` is the absolute, real path of a file or folder. Names below `relativeTo` (an
 * absolute folder) are shown relative to it, all others whole. `before` and
 * `after` count lines. `headLimit` and `offset` count lines in mode content and files in the others; 0 is no limit.
 * `invert`: the lines that do not match; `onlyMatching`: in mode content, each match on a line of its own; `maxCount`: at most so many
 * lines of each file (matches, where they may span lines), 0 or nothing for all.
 * `maxLineBytes`: longer lines are cut around the match; 0 is never, 2,000 if left out. `spans` asks for the places of matches,
 * `contentLines` for the lines of `content` one by one.
 * `timeBudgetMs`: the answer is partial when the search takes longer. In mode content, `from` is the file to go on at, an absolute path: files
 * before it in path order are left out, and `offset` counts from its first line; and an answer of more than `pageBytes` ends, 8 MiB if left out.
 */
export type GrepQuery = SearchScope & {
  pattern: string;
  path: string;
  relativeTo?: string;
  before: number;
  after: number;
  lineNumbers: boolean;
  letterCase: LetterCase;
  word?: boolean;
  multiline: boolean;
  fixed?: boolean;
  mode: GrepMode;
  invert?: boolean;
  onlyMatching?: boolean;
  maxCount?: number;
  headLimit: number;
  offset: number;
  from?: string;
  pageBytes?: number;
  maxLineBytes?: number;
  spans?: boolean;
  contentLines?: boolean;
  timeBudgetMs?: number;
};

/**
 * Files that were visited and not searched, or not to their end. `unreadable` counts folders too, and `unreadableNames` has the
 * first of them; `tooLarge`: a line is above 256 MiB, or the file is and
 * must be searched as a whole, since matches may span lines or it is UTF-16. `binary`: a NUL byte ended the search before a match was found.
 */
export type SkippedFiles = { binary: number; unreadable: number; tooLarge: number; unreadableNames: string[] };

/**
 * Where a match is: the place of its line in `content` from 0, its line in the file from 1, and bytes of the line as the file has it
 * (after UTF-16 has become UTF-8): `column` from 1, `bytes` how many. A match over several lines has a part in each.
 */
export type MatchSpan = { at: number; line: number; column: number; bytes: number };

/**
 * Whether a search was spared files by what the process remembers of the tree. `why` says why not, or why it has to be made anew. Of
 * `files` with a signature `candidates` had to be looked at; of `remembered` files, which have not changed, the same search found before that they match.
 */
export type IndexNote = {
  state: "used" | "building" | "off";
  why?: string;
  files?: number;
  candidates?: number;
  remembered?: number;
};

/**
 * What a search found, in path order. `numFiles`, `filenames`, `numLines` and `content` are those of the page, after `offset` and
 * `headLimit`. `numMatches`: in mode content the matching lines in all files; in the modes that count the sum over the page. `totalFiles`
 * counts all files that match. `content` is empty in mode
 * files_with_matches and files_without_match, `path:count` lines in the modes that count, and ripgrep's `path:line:text` lines in mode content.
 * `appliedLimit` and `appliedOffset` are there when they left something out; `truncated` says that there is more.
 * `partial` says that the time budget ended the search: then all of this is about the files that were searched. `next` says what `from` and
 * `offset` get the lines that follow, where `pageBytes` left some out; of an answer with `from`, what is counted is what was searched for it.
 */
export type GrepAnswer = {
  mode: GrepMode;
  numFiles: number;
  filenames: FileNames;
  content: string;
  contentLines?: string[];
  numLines: number;
  numMatches: number;
  totalFiles: number;
  spans?: MatchSpan[];
  appliedLimit?: number;
  appliedOffset?: number;
  truncated: boolean;
  next?: { from: string; offset: number };
  partial?: "time_budget";
  skipped: SkippedFiles;
  index?: IndexNote;
};

/**
 * One search for file names. `pattern` has .gitignore syntax, relative to `path`, or is absolute and below it; the scope narrows
 * it down (`ignoreCase` is about `pattern` and `globs`). `limit` 0 is no
 * limit. `order`: the last changed first, or by path.
 */
export type GlobQuery = Omit<SearchScope, "globIgnoreCase"> & {
  pattern: string;
  path: string;
  limit: number;
  offset?: number;
  order?: "newest" | "path";
  ignoreCase?: boolean;
};

/**
 * The files found, absolute, the newest first and then by path. `truncated` says that `limit` cut some off, `totalFiles` how many
 * there are. `unreadable` counts folders that could not be read.
 */
export type GlobAnswer = {
  filenames: FileNames;
  numFiles: number;
  totalFiles: number;
  truncated: boolean;
  unreadable: number;
  durationMs: number;
  index?: IndexNote;
};

/**
 * What the policy lets a search see, as data where that is enough, so that several threads can judge alike: nothing at or below
 * `hidden` (absolute), no name of `closedNames` (`x.*`: all that start with `x.`) but those with one of `sampleEndings`. Where rules of
 * the person say more, they are asked besides for all files and folders.
 */
export type FileView = {
  hidden: readonly string[];
  closedNames: readonly string[];
  sampleEndings: readonly string[];
} & Partial<ReadRules>;

/**
 * Rules on reading that are no data. `mayRead` says whether all of these may be read; if not, some still may. `asked` is what it goes by, for
 * threads that have to ask for themselves; without it one thread searches.
 */
export type ReadRules = { mayRead: (paths: readonly string[]) => boolean; asked?: ReadQuestion };

/**
 * The rules of all but the built-in layer, and the question that is asked of the policy for each of a tool's paths. `link` is there for a search
 * whose start was named through a symlink: what is at or below `to` was reached as `from`.
 */
export type ReadQuestion = { rules: RuleLists; about: Omit<PolicyQuestion, "effects">; link?: ReadLink };

/** Absolute: the name of a place with a symlink in it, and its real path. */
export type ReadLink = { from: string; to: string };

/**
 * Searches of one call. Throws `search.bad_pattern`, `search.bad_glob`, `search.bad_type`, `fs.not_found`,
 * `fs.not_a_file` (a device, FIFO or socket), `fs.no_permission`, `sandbox.hidden`, and `tool.cancelled` when the signal
 * is raised.
 */
export type SearchGrant = {
  grep: (query: GrepQuery, signal: AbortSignal) => Promise<GrepAnswer>;
  glob: (query: GlobQuery, signal: AbortSignal) => Promise<GlobAnswer>;
};
