import { dirname } from "node:path";
import type { FileView, GlobAnswer, GlobQuery } from "../../contract/search.ts";
import { ToolFault } from "../../contract/fault.ts";
import { FileNames, type NameBytes } from "../../contract/file_names.ts";
import type { SearchEngine } from "../../engine/search.ts";
import { mergeFound } from "./finds.ts";
import type { Sight } from "./grep_tree.ts";
import { type Indexed, searchIndexed } from "./index/search_index.ts";
import { engineScope, type SearchJob } from "./job.ts";
import { Pace } from "./pace.ts";
import { childOf, lstatOrNothing, shownPath } from "./real_path.ts";
import { runSearch } from "./run_search.ts";
import { mayStartAt, startPoint } from "./start_point.ts";

/** What a walk is told: where to start, and what files below it must match. */
type Aim = { start: string; only: string };

/** A character that is not taken as it stands in a glob. */
const SPECIAL = /[*?[\]{}\\!]/;

/** Lists the files below a folder that match. Ignored and hidden files are left out. */
export async function globTree(
  engine: SearchEngine,
  { view, globalExcludes, index, alone = false }: Sight,
  query: GlobQuery,
  signal: AbortSignal,
): Promise<GlobAnswer> {
  const begun = performance.now();
  const pace = new Pace(signal);
  const start = startPoint(query.path, view);
  const aim = start === "file" ? aimAtFile(query) : aimOf(query, view);
  const { offset = 0, limit } = query;
  if (aim === undefined) return answerOf(undefined, 0);
  const { found, note } = await searchIndexed(index, indexed(jobOf(aim)));
  const base = start === "file" ? dirname(aim.start) : aim.start;
  const page = engine.page({ offset, limit, base, newest: query.order !== "path" });
  const answer = answerOf({ ...page, folder: base === "/" ? "/" : `${base}/` }, mergeFound(found).skipped.unreadable);
  return { ...answer, ...(note ? { index: note } : {}) };

  function answerOf(names: (NameBytes & { total: number }) | undefined, unreadable: number): GlobAnswer {
    const filenames = names === undefined ? FileNames.of([]) : new FileNames(names);
    const totalFiles = names?.total ?? 0;
    return {
      filenames,
      numFiles: filenames.length,
      totalFiles,
      truncated: totalFiles > offset + filenames.length,
      unreadable,
      durationMs: Math.round(performance.now() - begun),
    };
  }

  function indexed(job: SearchJob): Indexed {
    return {
      job,
      start,
      remembers: view.mayRead === undefined,
      search: (told, known) => runSearch(engine, told, { view, pace, start, known }),
      isWhole: () => !pace.isOver,
    };
  }

  function jobOf({ start, only }: Aim): SearchJob {
    // A pattern that names a dot file asks for dot files: "**/.env.example" would else never match.
    const includeHidden = query.includeHidden ?? /(^|\/)\.[^./]/.test(only);
    const scope = { ...query, includeHidden, globIgnoreCase: query.ignoreCase ?? false };
    return {
      start,
      scope: { ...engineScope(scope, view), only },
      keep: limit === 0 ? 0 : offset + limit,
      gather: query.order === "path" ? "names" : "ages",
      hidden: view.hidden,
      noIgnoreKinds: query.noIgnoreKinds ?? [],
      ...(globalExcludes === undefined ? {} : { globalExcludes }),
      alone,
    };
  }
}

/** The one file there is: as in ripgrep, whatever globs, types and ignore files say. Which names are wanted can be said of those in a folder only. */
function aimAtFile({ pattern, path }: GlobQuery): Aim {
  if (pattern === "**") return { start: path, only: pattern };
  throw new ToolFault({
    code: "fs.not_a_directory",
    message: `Cannot find "${pattern}" in "${path}": it is a file`,
    hint: "Give the folder as path",
  });
}

/**
 * Starts the walk as deep as the pattern allows: the folders at its front that are named in full are gone into directly,
 * also when they are hidden or ignored, because they are asked for by name. Undefined if one of them is not there, is a
 * link, or is hidden by the policy.
 */
function aimOf(query: GlobQuery, view: FileView): Aim | undefined {
  const segments = relativePattern(query)
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw outside(query);
  const named = segments.slice(0, -1);
  const firstSpecial = named.findIndex((segment) => SPECIAL.test(segment));
  const literal = firstSpecial === -1 ? named : named.slice(0, firstSpecial);
  let start = query.path;
  for (const segment of literal) {
    start = shownPath(childOf(start, segment));
    if (!mayStartAt(start, view) || lstatOrNothing(start)?.isDirectory() !== true) return undefined;
  }
  const rest = segments.slice(literal.length).join("/");
  // In .gitignore syntax a pattern without a slash matches at any depth; one that had folders in front must not.
  return { start, only: literal.length > 0 && !rest.includes("/") ? `/${rest}` : rest };
}

function relativePattern({ pattern, path }: GlobQuery): string {
  if (!pattern.startsWith("/")) return pattern;
  const base = path === "/" ? "/" : `${path}/`;
  if (!pattern.startsWith(base)) throw outside({ pattern, path });
  return pattern.slice(base.length);
}

function outside({ pattern, path }: Pick<GlobQuery, "pattern" | "path">): ToolFault {
  return new ToolFault({
    code: "search.bad_glob",
    message: `Cannot use the glob "${pattern}": it leads out of "${path}"`,
    hint: "Give the folder as path and a pattern relative to it",
  });
}
