/**
 * A path as the file system has it. `absolute` is the given path made absolute, links and all; `real` has no links left
 * (for a missing path: its deepest existing folder resolved, the rest appended).
 */
export type ResolvedPath = {
  given: string;
  absolute: string;
  real: string;
  exists: boolean;
  kind: "file" | "folder" | "other" | "missing";
};

/** Resolves one path against the working folder. Throws ToolFault `fs.bad_path` or `fs.no_permission`. */
export type ResolvePath = (path: string) => ResolvedPath;
