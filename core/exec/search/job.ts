import type { Gather, SearchEngine } from "../../engine/search.ts";
import type { FileView, IgnoreKind, ReadQuestion, SearchScope } from "../../contract/search.ts";
import type { Listing } from "./index/listing.ts";

/**
 * One search as plain data, so that a worker can be told of it. `start` is where it begins and `base` what globs are relative to:
 * the start itself. `grep` is absent for a search for names. `keep` is how many lines or names from the front of the whole result
 * the answer can need; 0 is all. `keepBytes`: the same in bytes of text, for a search for lines.
 */
export type SearchJob = {
  start: string;
  grep?: Parameters<SearchEngine["grep"]["compile"]>[0];
  scope: Parameters<SearchEngine["walk"]["start"]>[0];
  keep: number;
  keepBytes?: number;
  /** Where an answer goes on: files before this one are left out, and of its lines so many are not needed. */
  from?: { path: string; lines: number };
  /** What is gathered of the files: `nothing` where their lines are wanted. */
  gather: Gather;
  relativeTo?: string;
  hidden: readonly string[];
  /** Kinds of ignore files that have no say. */
  noIgnoreKinds: readonly IgnoreKind[];
  /** The text of git's global excludes. */
  globalExcludes?: Uint8Array;
  /** What the policy is asked for all files and folders. */
  asked?: ReadQuestion;
  /** No other thread helps. */
  alone: boolean;
  /** What the index knows of the tree: without it all of it is read. */
  listing?: Listing;
};

/** The scope in the component's words. */
export function engineScope(scope: SearchScope, view: FileView): SearchJob["scope"] {
  return {
    globs: [...(scope.globs ?? [])],
    iglobs: [...(scope.iglobs ?? [])],
    ignoreCase: scope.globIgnoreCase ?? false,
    fileTypes: [...(scope.types ?? [])],
    fileTypesNot: [...(scope.typesNot ?? [])],
    hidden: scope.includeHidden ?? false,
    noIgnore: scope.noIgnore ?? false,
    closedNames: [...view.closedNames],
    sampleEndings: [...view.sampleEndings],
  };
}
