/** What a plan of `cordon run` depends on beside the file system and the machine. */
import { CACHES } from "./private_caches.ts";

/** What is read before planning. `flags` are the words before the command, with `--` where there is one. */
export type RunPlace = {
  flags: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  build: string;
};

/** Variables whose values planning looks at. Of all others only the names matter: they pass or they don't. */
export const READ_VARIABLES: readonly string[] = [
  "HOME",
  "PATH",
  "TMPDIR",
  "XDG_STATE_HOME",
  "XDG_CONFIG_HOME",
  "CORDON_STATE_DIR",
  "CORDON_SANDBOX",
  "CORDON_PERMISSION_MODE",
  ...CACHES.map(({ variable }) => variable),
];

/**
 * Everything that must be the same for a plan to hold again, as one line of text, joined by NUL, which stands in none of the
 * parts. Null where a part has a line end: such a plan is not kept. Mirror: `sandbox-native/front/src/lib.rs`.
 */
export function runKey({ flags, cwd, env, build }: RunPlace): string | null {
  const parts = [build, `${flags.length}`, ...flags, cwd];
  // A variable without a value differs from an empty one.
  for (const name of READ_VARIABLES) parts.push(env[name] === undefined ? "-" : `=${env[name]}`);
  const key = [...parts, ...Object.keys(env).sort()].join("\0");
  return key.includes("\n") ? null : key;
}

/** The file of a key's record in the folder of plans. Two keys may meet in one file: the record holds its key. */
export function recordName(key: string): string {
  return `${Bun.hash.crc32(key)}`;
}

/** Where cordon keeps its log and its launcher. A cordon inside a sandbox has only the private temporary folder. */
export function stateFolderIn(env: Readonly<Record<string, string | undefined>>, home: string, uid: number): string {
  const { CORDON_STATE_DIR: own, XDG_STATE_HOME: xdg, CORDON_SANDBOX: inside, TMPDIR: temporary } = env;
  if (own?.startsWith("/")) return own;
  if (inside === "1") return `${temporary ?? "/tmp"}/.cordon-${uid}`;
  return xdg?.startsWith("/") ? `${xdg}/cordon` : `${home}/.local/state/cordon`;
}
