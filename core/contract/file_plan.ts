/**
 * A path that was judged. `absolute` is the given path made absolute, links and all; `real` has no symlinks left; a file that does not
 * exist yet has its real parent before it.
 */
export type PlannedPath = {
  given: string;
  absolute: string;
  real: string;
  access: "read" | "write";
  exists: boolean;
};

/** The files a call may touch, and the rest of the policy for calls that walk folders. */
export type FilePlan = { paths: PlannedPath[]; hidden: string[] };
