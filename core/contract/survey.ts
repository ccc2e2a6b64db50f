import type { ResolvedPath } from "./resolved_path.ts";
import type { ReadRule } from "./sandbox_request.ts";

/** What is known of one path before planning. `link` is the text of a symlink at exactly this path. */
export type Surveyed = ResolvedPath & { link?: string };

/** The parts of a repository that commands write although they may lie outside the workspace. */
export type GitPlace = { gitDir: string; commonDir: string };

/** What the file system says about the places that a plan may name: read once at the edge, so that planning stays pure. */
export type Survey = {
  workspace: string;
  home: string;
  git: GitPlace | null;
  /** Other repositories whose settings git on the host obeys, and the `.git` files that name some of them. Real paths. */
  nested: { places: readonly GitPlace[]; pointers: readonly string[] };
  /** Places in the workspace that git obeys because its settings name them, with the reason; they need not exist. */
  gitSettings: readonly { path: string; reason: string }[];
  /** Links in the workspace through which paths asked for are reached, by their real places. */
  links: readonly string[];
  /** Every path asked for, by its absolute name. */
  paths: ReadonlyMap<string, Surveyed>;
  /** Secret files found in the workspace, real paths. */
  secretFiles: readonly string[];
  /** What deny rules on reading are about, as far as the workspace is looked through; real paths. */
  ruled: readonly { path: string; folder: boolean; rule: ReadRule }[];
  /** True where the workspace has more folders than are looked through, so that there may be others. */
  secretsUnseen: boolean;
  /** Existing folders of PATH, real. */
  pathFolders: readonly string[];
};

/** Makes a survey: what stands at these paths, and what the rules are about. */
export type LookAtPlaces = (paths: readonly string[], rules?: readonly ReadRule[]) => Survey;
