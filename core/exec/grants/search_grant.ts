import { realpathSync } from "node:fs";
import { SAMPLE_ENDINGS, SECRET_NAMES } from "../../config/protected_paths.ts";
import { ToolFault } from "../../contract/fault.ts";
import type { FilePlan, PlannedPath } from "../../contract/file_plan.ts";
import type { IndexNote, ReadRules, SearchGrant } from "../../contract/search.ts";
import { throughLink } from "../../engine/may_read.ts";
import type { SearchIndex } from "../search/index/search_index.ts";
import type { GitSettings } from "../../config/git_places.ts";
import { fsFault, moved } from "./fs_fault.ts";

/**
 * Whether the rules let more files be read that nobody was asked about. Absolute real paths, files and folders. Undefined where
 * no rule says more than what the plan hides: then nothing is asked.
 */
export type ReadFilter = ReadRules | undefined;

/**
 * What a search is told beside its plan: the rules on reading, where git's settings are, and what the process remembers of trees, if it
 * lasts. What that did goes into the record.
 */
export type SearchRules = {
  readable: () => Promise<ReadFilter>;
  git: GitSettings;
  index?: () => Promise<SearchIndex>;
  record?: { index?: IndexNote };
};

/**
 * The search handle of one call: starts only where the plan says, by the real path that was judged, and sees nothing that
 * the plan hides or a rule keeps from reading. A start that leads elsewhere by now throws `fs.moved`. The search engine is loaded by the first search.
 */
export function createSearchGrant(plan: FilePlan, { readable, git, index, record = {} }: SearchRules): SearchGrant {
  const open = async (path: string) => {
    const start = startOf(plan, path);
    const [{ createSearch }, rules, known] = await Promise.all([import("../search/mod.ts"), readable(), index?.()]);
    // By name too: the survey looks for secret files only near the top, and a search meets them at any depth.
    const closed = { hidden: plan.hidden, closedNames: SECRET_NAMES, sampleEndings: SAMPLE_ENDINGS };
    const search = createSearch({ ...closed, ...reachedFrom(start, rules) }, git, known);
    return { search, path: unmoved(start) };
  };
  const noted = <Answer extends { index?: IndexNote }>({ index: note, ...answer }: Answer) => {
    if (note !== undefined) record.index = note;
    return answer;
  };
  return {
    grep: async (query, signal) => {
      const { search, path } = await open(query.path);
      return noted(await search.grep({ ...query, path }, signal));
    },
    glob: async (query, signal) => {
      const { search, path } = await open(query.path);
      return noted(await search.glob({ ...query, path }, signal));
    },
  };
}

/** A link to the start can't carry a search past a rule either: the rules are asked about what is below it by both names. */
function reachedFrom({ absolute, real }: PlannedPath, rules: ReadFilter): ReadFilter {
  if (rules === undefined || absolute === real) return rules;
  const { mayRead, asked } = rules;
  const link = { from: absolute, to: real };
  return { mayRead: throughLink(mayRead, link), ...(asked === undefined ? {} : { asked: { ...asked, link } }) };
}

function startOf(plan: FilePlan, path: string): PlannedPath {
  const planned = plan.paths.find(({ given, real, access }) => access === "read" && (given === path || real === path));
  if (!planned) {
    throw new ToolFault({
      code: "sandbox.outside",
      message: `Cannot search "${path}": the plan of this call does not list it`,
      hint: "A tool must name each path in needs",
    });
  }
  return planned;
}

/** The real path of a start that is still what was judged. */
function unmoved({ real }: PlannedPath): string {
  const now = realNow(real);
  if (now !== real) throw moved("read", real, `it leads to "${now}" now`);
  return real;
}

function realNow(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw fsFault("read", path, error);
  }
}
