import type { ReadLink, ReadQuestion, ReadRules } from "../contract/search.ts";
import type { Decision, PolicyQuestion } from "../contract/verdict.ts";

/** Lists of paths that are known to be open: a folder or a part of one each, so this is more than the largest trees have. */
const MOST_KNOWN = 20_000;

/**
 * Asks for all paths in one question, whose answer is that of the strictest: allowed only if each of them is. A file that would ask is
 * not allowed, since a search can't stop to ask. `judge` must answer by its rules and the question alone: then a yes to the same paths holds
 * for as long as this function is used, which is for one set of rules. Its digest is kept, one that nobody can find other names for.
 */
export function mayReadBy(
  judge: (question: PolicyQuestion) => Decision,
  { about }: ReadQuestion,
): ReadRules["mayRead"] {
  const open = new Set<string>();
  return (paths) => {
    // As JSON: two lists are never one text, whatever is in a name that a caller made up.
    const digest = new Bun.CryptoHasher("sha256").update(JSON.stringify(paths)).digest("base64");
    if (open.has(digest)) return true;
    const effects = paths.map((path) => ({ kind: "read", path }) as const);
    if (judge({ ...about, effects }).verdict !== "allow") return false;
    if (open.size >= MOST_KNOWN) open.clear();
    open.add(digest);
    return true;
  };
}

/**
 * Asks for each path at or below the link's end by both its names, as it is asked about a file that is read (effectsOf in core/authorize/effects.ts):
 * by the one with the link in it, and by the real one. Nothing is asked about twice where there is no link.
 */
export function throughLink(mayRead: ReadRules["mayRead"], link: ReadLink | undefined): ReadRules["mayRead"] {
  if (link === undefined) return mayRead;
  const { from, to } = link;
  const below = to === "/" ? "/" : `${to}/`;
  const reachedAs = (path: string) =>
    path === to ? [from] : path.startsWith(below) ? [`${from}/${path.slice(below.length)}`] : [];
  return (paths) => mayRead(paths.flatMap((path) => [...reachedAs(path), path]));
}
