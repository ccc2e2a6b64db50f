import type { FileView, GlobAnswer, GlobQuery } from "../../contract/search.ts";
import { ToolFault } from "../../contract/fault.ts";
import type { SearchEngine } from "../../engine/search.ts";
import { badScope, refusing } from "./faults.ts";
import { Pace } from "./pace.ts";
import { lstatOrNothing } from "./read_folder.ts";
import { childOf, shownPath } from "./real_path.ts";
import { startPoint } from "./start_point.ts";
import { type Sight, type TreeWalk, walkTree } from "./walk_tree.ts";

/** What a walk is told: where to start, and what files below it must match. */
type Aim = { start: string; only: string };

/** A character that is not taken as it stands in a glob. */
const SPECIAL = /[*?[\]{}\\!]/;

/** Lists the files below a folder that match, the newest first. Ignored and hidden files are left out. */
export async function globTree(
  engine: SearchEngine,
  sight: Sight,
  query: GlobQuery,
  signal: AbortSignal,
): Promise<GlobAnswer> {
  const begun = performance.now();
  const pace = new Pace(signal);
  startPoint(query.path, sight.view);
  const aim = aimOf(query, sight.view);
  const found: { name: string; mtimeMs: number }[] = [];
  if (aim !== undefined) {
    const walk = begin(engine, sight, query, aim);
    for (const path of walkTree(walk, aim.start)) {
      const stats = lstatOrNothing(path);
      if (stats !== undefined) found.push({ name: shownPath(path), mtimeMs: stats.mtimeMs });
      if (pace.isDue()) await pace.breathe();
    }
  }
  found.sort((one, other) => other.mtimeMs - one.mtimeMs || (one.name < other.name ? -1 : 1));
  const filenames = found.slice(0, query.limit).map(({ name }) => name);
  return {
    filenames,
    numFiles: filenames.length,
    truncated: found.length > query.limit,
    durationMs: Math.round(performance.now() - begun),
  };
}

function begin(engine: SearchEngine, sight: Sight, query: GlobQuery, { only }: Aim): TreeWalk {
  // A pattern that names a dot file asks for dot files: "**/.env.example" would else never match.
  const hidden = query.includeHidden ?? /(^|\/)\.[^./]/.test(only);
  refusing(
    () => engine.walk.start({ only, hidden }),
    (fault) => badScope({ glob: query.pattern }, fault),
  );
  return { ...sight, engine, skipped: { binary: 0, unreadable: 0, tooLarge: 0 } };
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
    if (!view.mayRead(start) || lstatOrNothing(start)?.isDirectory() !== true) return undefined;
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
