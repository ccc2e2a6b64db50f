import type { FileView, SearchGrant } from "../../contract/search.ts";
import { withSearchEngine } from "../../engine/search.ts";
import { globTree } from "./glob_tree.ts";
import { grepTree } from "./grep_tree.ts";

/** The handle to search with, bounded by what the view lets it see. The component is loaded at the first search. */
export function createSearch(view: FileView): SearchGrant {
  return {
    grep: (query, signal) => withSearchEngine((engine) => grepTree(engine, view, query, signal)),
    glob: (query, signal) => withSearchEngine((engine) => globTree(engine, view, query, signal)),
  };
}
