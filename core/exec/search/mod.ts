import type { FileView, SearchGrant } from "../../contract/search.ts";
import { withSearchEngine } from "../../engine/search.ts";
import { globTree } from "./glob_tree.ts";
import { grepTree } from "./grep_tree.ts";
import { ReadAhead } from "./read_ahead.ts";

/** The handle to search with, bounded by what the view lets it see. The component is loaded at the first search. */
export function createSearch(view: FileView): SearchGrant {
  return {
    grep: (query, signal) => {
      const sight = { view, folders: new ReadAhead(view) };
      return withSearchEngine(
        (engine) => grepTree(engine, sight, query, signal),
        (loaded) => sight.folders.fill(query.path, loaded),
      );
    },
    glob: (query, signal) => {
      const sight = { view, folders: new ReadAhead(view) };
      // Nothing is read ahead: the pattern may lead the walk far past the folder it is given.
      return withSearchEngine((engine) => globTree(engine, sight, query, signal));
    },
  };
}
