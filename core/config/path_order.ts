/** True when `path` is `folder` or lies below it. Both absolute and real. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

/** Orders paths so that a folder always comes before what lies in it: mounts are laid over each other in this order. */
export function parentsFirst(a: string, b: string): number {
  return depth(a) - depth(b) || (a < b ? -1 : a > b ? 1 : 0);
}

function depth(path: string): number {
  return path === "/" ? 0 : path.split("/").length;
}
