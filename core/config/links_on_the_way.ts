import { dirname, join } from "node:path";
import { linkTextSync, lstatSync } from "./look.ts";

/** The most links that Linux follows in one lookup (MAXSYMLINKS, namei.h). */
const LINKS_LIMIT = 40;

/** The links in `folder` that a lookup of `path` goes through, by their real places. Absolute, real folder. Never throws. */
export function linksOnTheWay(path: string, folder: string): string[] {
  const links: string[] = [];
  let at = "/";
  const rest = path.split("/").reverse();
  for (let name = rest.pop(); name !== undefined && links.length < LINKS_LIMIT; name = rest.pop()) {
    if (name === "" || name === ".") continue;
    const next = name === ".." ? dirname(at) : join(at, name);
    const target = name === ".." ? undefined : targetOf(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links.push(next);
    if (target.startsWith("/")) at = "/";
    rest.push(...target.split("/").reverse());
  }
  return links.filter((link) => link.startsWith(`${folder}/`));
}

function targetOf(path: string): string | undefined {
  try {
    return lstatSync(path)?.isSymbolicLink() ? linkTextSync(path) : undefined;
  } catch {
    return undefined;
  }
}
