/** What a search returns of each file, in ripgrep's words. */
export type GrepMode = "content" | "files_with_matches" | "count";

/**
 * One search through file contents. `path` is the absolute, real path of a file or folder. Names below `relativeTo` (an
 * absolute folder) are shown relative to it, all others whole. `glob` has ripgrep's meaning: .gitignore syntax, relative to
 * `path`, `!` in front turns it round, stronger than ignore files. `type` is a name of ripgrep's type list. `before` and
 * `after` count lines. `headLimit` and `offset` count lines in mode content and files in the others; 0 is no limit.
 */
export type GrepQuery = {
  pattern: string;
  path: string;
  relativeTo?: string;
  glob?: string;
  type?: string;
  before: number;
  after: number;
  lineNumbers: boolean;
  ignoreCase: boolean;
  multiline: boolean;
  fixed?: boolean;
  mode: GrepMode;
  headLimit: number;
  offset: number;
  includeHidden?: boolean;
};

/** Files that were visited and not searched. `unreadable` counts folders too; `tooLarge` is above 256 MiB. */
export type SkippedFiles = { binary: number; unreadable: number; tooLarge: number };

/**
 * What a search found, in path order. All numbers are those of the answer, after `offset` and `headLimit`, except
 * `numMatches` in mode content: the matching lines in all files that were looked at until the answer was full. `content` is empty in mode
 * files_with_matches, `path:count` lines in mode count, and ripgrep's `path:line:text` lines in mode content.
 * `appliedLimit` and `appliedOffset` are there when they left something out; `truncated` says that there is more.
 */
export type GrepAnswer = {
  mode: GrepMode;
  numFiles: number;
  filenames: string[];
  content: string;
  numLines: number;
  numMatches: number;
  appliedLimit?: number;
  appliedOffset?: number;
  truncated: boolean;
  skipped: SkippedFiles;
};

/** One search for file names. `pattern` has .gitignore syntax, relative to `path`, or is absolute and below it. */
export type GlobQuery = { pattern: string; path: string; limit: number; includeHidden?: boolean };

/** The files found, absolute, the newest first and then by path. `truncated` says that `limit` cut some off. */
export type GlobAnswer = { filenames: string[]; numFiles: number; truncated: boolean; durationMs: number };

/** What the policy lets a search see. `path` is absolute; a folder that may not be read is not entered. */
export type FileView = { mayRead: (path: string) => boolean };

/**
 * Searches of one call. Throws `search.bad_pattern`, `search.bad_glob`, `search.bad_type`, `fs.not_found`,
 * `fs.not_a_file` (a device, FIFO or socket), `fs.no_permission`, `sandbox.hidden`, and `tool.cancelled` when the signal
 * is raised.
 */
export type SearchGrant = {
  grep: (query: GrepQuery, signal: AbortSignal) => Promise<GrepAnswer>;
  glob: (query: GlobQuery, signal: AbortSignal) => Promise<GlobAnswer>;
};
