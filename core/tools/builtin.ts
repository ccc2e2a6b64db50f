import type { AnyTool } from "../contract/tool.ts";
import { bash } from "./exec/bash.ts";
import { editFile } from "./fs/edit_file.ts";
import { readFile } from "./fs/read_file.ts";
import { writeFile } from "./fs/write_file.ts";
import { globSearch } from "./search/glob_search.ts";
import { grepSearch } from "./search/grep_search.ts";

/**
 * The tools of this build that a model may see, in the order in which they are shown (A1). Beside `run`, a person's own, this
 * is the only list: a tool not in it does not exist.
 */
export function builtinTools(): readonly AnyTool[] {
  return [readFile, writeFile, editFile, globSearch, grepSearch, bash];
}
