/** A place for what programs can make again: the variable that moves it, and where it is when nobody sets the variable. */
export type Cache = { variable: string; usual?: string; folder: string };

/**
 * The home folder is closed to a command, and without a cache npm and go do nothing at all. These move into the private
 * temporary folder, and go with it: what a command leaves in a shared cache, the host would use.
 */
export const CACHES: readonly Cache[] = [
  // pip, go, yarn, pnpm, uv, node-gyp, fontconfig and more.
  { variable: "XDG_CACHE_HOME", usual: ".cache", folder: ".cache" },
  { variable: "npm_config_cache", usual: ".npm", folder: ".npm" },
  { variable: "GOCACHE", folder: ".cache/go-build" },
];
