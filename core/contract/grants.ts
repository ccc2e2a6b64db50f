import type { Denial, TrustedChange } from "./denial.ts";
import type { Enforced } from "./enforced.ts";
import type { SearchGrant } from "./search.ts";

/** A file as it was opened: bytes, and what the write must find unchanged. `mtimeMs` is milliseconds since the epoch. */
export type ReadFile = { path: string; bytes: Uint8Array; mtimeMs: number; mode: number };

/**
 * How a write ended. `path` is the real one; `created` says that the file did not exist before. The old content is not
 * handed out: a caller that may write a file may not always read it.
 */
export type WrittenFile = { path: string; created: boolean };

/**
 * Files of one call. Only paths that the plan lists can be used, others throw `sandbox.outside`. All errors are ToolFaults
 * with an `fs.*` code.
 */
export type FsGrant = {
  /** Reads a whole regular file; `limitBytes` bounds it (`fs.too_large`). Never opens devices, FIFOs or sockets. */
  read: (path: string, limitBytes: number) => ReadFile;
  /**
   * Replaces a file's content in one step (a new file renamed over the old), making parent folders. With `expect`, the
   * content must still be these bytes, else `fs.moved`.
   */
  write: (path: string, content: Uint8Array, expect?: Uint8Array) => WrittenFile;
};

/** How a command ended. Exactly one of `code` and `signal` is set unless it was stopped by the time limit. */
export type CommandEnd = {
  stdout: string;
  stderr: string;
  code: number | null;
  signal: string | null;
  timedOut: boolean;
  cancelled: boolean;
  droppedBytes: number;
  /** The limit that a time-out has met, in milliseconds: the shorter of the tool's and the caller's. */
  limitMs?: number;
  /** The bound that ended it, for example "memory". */
  limit?: string;
  denials: Denial[];
  trusted: TrustedChange[];
  enforced: Enforced;
};

/** A command left running. `outputFile` grows while it runs. */
export type BackgroundTask = { id: string; outputFile: string };

/** How a command is run. */
export type ExecOptions = { timeoutMs: number | null; stdio: "collect" | "inherit" | "replace"; outputBytes?: number };

/** The one planned command of a call. */
export type ExecGrant = {
  /**
   * Runs it to its end. `stdio` "inherit" hands over the terminal and collects nothing; "replace" is the same, and where that
   * is possible this process becomes the command's supervisor and does not come back. With `outputBytes` the output comes by
   * way of this process, which ends the command when both streams together have more.
   */
  run: (options: ExecOptions) => Promise<CommandEnd>;
  /** Starts it and returns at once; throws `exec.background_unavailable` where the process will not last. */
  start: (options: { timeoutMs: number | null }) => Promise<BackgroundTask>;
};

/** The handles a tool gets, cut from its plan. A handle that the plan does not back throws when it is used. */
export type Grants = { fs: FsGrant; search: SearchGrant; exec: ExecGrant; signal: AbortSignal };
