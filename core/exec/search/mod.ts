import type { FileView, SearchGrant } from "../../contract/search.ts";
import { withSearchEngine } from "../../engine/search.ts";
import type { GitSettings } from "../../config/git_places.ts";
import { readGlobalExcludes } from "./global_excludes.ts";
import { globTree } from "./glob_tree.ts";
import { grepTree } from "./grep_tree.ts";
import type { SearchIndex } from "./index/search_index.ts";

/** The handle to search with, bounded by what the view lets it see. The component is loaded at the first search. */
export function createSearch(view: FileView, git: GitSettings, index?: SearchIndex): SearchGrant {
  const sight = () => ({ view, globalExcludes: readGlobalExcludes(git), ...(index ? { index } : {}) });
  return {
    grep: (query, signal) => withSearchEngine((engine) => grepTree(engine, sight(), query, signal)),
    glob: (query, signal) => withSearchEngine((engine) => globTree(engine, sight(), query, signal)),
  };
}
