import { recordName, runKey, stateFolderIn, wordsBeforeCommand } from "../../config/run_key.ts";
import { BUILD } from "../../version.ts";
import { LAUNCHER_SHA256 } from "../generated/launcher.ts";
import { type NativeCalls, nativeCalls } from "./native_calls.ts";

/** What `cordon run` starts with. `words` stand after "run". */
export type Start = {
  words: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** The path of this executable, which the launcher starts when the plan does not hold any more. */
  program: string;
};

/** The folder of records in the state folder. */
export const PLANS = "plans";

/** Modes of chmod(2) that let others write. */
const WRITABLE_BY_OTHERS = 0o022;

const KIND_MASK = 0o170000;
const FOLDER = 0o040000;
const LAUNCHER_FILE_MODE = 0o100500;

/**
 * The quick way of `cordon run`: where a record of the same run is found, this program becomes the launcher, which checks
 * that the world is still the one that was planned for. Comes back when there is none, or anything is not as it should be.
 */
export function becomeLauncherFromRecord({ words, cwd, env, program }: Start): void {
  const flags = wordsBeforeCommand(words);
  const { HOME: home } = env;
  if (BUILD === null || flags === null || !home?.startsWith("/")) return;
  const calls = nativeCalls();
  if (calls === null) return;
  const uid = calls.uid();
  const state = stateFolderIn(env, home, uid);
  const folder = calls.identify(state);
  if (!folder || (folder.mode & KIND_MASK) !== FOLDER || folder.uid !== uid || folder.mode & WRITABLE_BY_OTHERS) return;
  const key = runKey({ flags, cwd, env, build: BUILD });
  const record = calls.open(`${state}/${PLANS}/${recordName(key)}`, "keep");
  if (record < 0) return;
  const launcher = calls.open(`${state}/launcher-${LAUNCHER_SHA256}`, "close");
  const found = launcher < 0 ? null : calls.identify(launcher);
  const sound = found !== null && found.uid === uid && found.mode === LAUNCHER_FILE_MODE;
  if (sound && calls.startsWith(record, `${key}\n${found.mark}\n`)) {
    execute(calls, { launcher: `/proc/self/fd/${launcher}`, record, program, flags, argv: words.slice(flags.length) });
  }
  if (launcher >= 0) calls.close(launcher);
  calls.close(record);
}

/** One start of the launcher in place of this program. `row` is an audit row that is open already. */
export type Replacement = {
  launcher: string;
  record: number;
  program: string;
  flags: readonly string[];
  argv: readonly string[];
  row?: { id: string; sinceMs: number };
};

/** Comes back only when the launcher could not be started. */
export function execute(calls: NativeCalls, { launcher, record, program, flags, argv, row }: Replacement): void {
  calls.execute(launcher, [
    "cordon-launcher",
    "direct",
    `--record=${record}`,
    `--cordon=${program}`,
    `--flags=${flags.length}`,
    `--row=${row?.id ?? ""}`,
    `--since=${Math.round((row?.sinceMs ?? 0) * 1000)}`,
    ...flags,
    ...argv,
  ]);
}
