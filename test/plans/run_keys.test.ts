// The front of the executable finds the record of a run by a key that planning made: tests of both sides read the same file.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { emptyRunDraft, RUN_FLAGS } from "../../cli/commands/run_flags.ts";
import { readFlags } from "../../cli/flags.ts";
import { READ_VARIABLES, recordName, runKey, stateFolderIn } from "../../core/config/run_key.ts";

const FILE = join(import.meta.dir, "run_keys.json");
const BUILD = "0123456789abcdef";

type Start = { words: string[]; cwd: string; uid: number; env: Record<string, string> };

const HOME = { HOME: "/home/ada", PATH: "/usr/bin:/bin" };
const plain = { words: ["--", "true"], cwd: "/home/ada/app", uid: 1000, env: HOME };

const STARTS: Start[] = [
  plain,
  { ...plain, words: ["true"] },
  { ...plain, words: ["--allow-net", "--deny-read=/home/ada/ä", "--", "npm", "test", "--", "-x"] },
  { ...plain, words: ["-", "x"] },
  { ...plain, words: ["--allow-net"] },
  { ...plain, words: ["--"] },
  { ...plain, words: ["--", ""] },
  { ...plain, words: [] },
  { ...plain, cwd: "/home/ada/a\nb" },
  { ...plain, cwd: "/home/ada/ø 日本" },
  { ...plain, env: { ...HOME, LC_ALL: "C", aa: "1", a_: "", A0: "x", "with space": "=" } },
  { ...plain, env: { ...HOME, LS_COLORS: "line\nend", TMPDIR: "/var/tmp", GOCACHE: "" } },
  { ...plain, env: { ...HOME, CORDON_STATE_DIR: "/elsewhere" } },
  { ...plain, env: { ...HOME, CORDON_STATE_DIR: "relative", XDG_STATE_HOME: "/home/ada/.state" } },
  { ...plain, env: { ...HOME, XDG_STATE_HOME: "relative" } },
  { ...plain, env: { ...HOME, CORDON_SANDBOX: "1", TMPDIR: "/tmp/private" } },
  { ...plain, env: { ...HOME, CORDON_SANDBOX: "1" }, uid: 0 },
  { ...plain, env: { ...HOME, CORDON_SANDBOX: "0" } },
  { ...plain, env: { PATH: "/usr/bin" } },
  { ...plain, env: { HOME: "relative" } },
];

function keyed({ words, cwd, uid, env }: Start): object {
  const argv = readFlags(words, emptyRunDraft(), { table: RUN_FLAGS, words: "command", folders: { cwd, home: "/" } });
  const flags = argv.length === 0 || argv[0] === "" ? null : words.length - argv.length;
  const key = flags === null ? null : runKey({ flags: words.slice(0, flags), cwd, env, build: BUILD });
  const { HOME: home } = env;
  const state = home?.startsWith("/") ? stateFolderIn(env, home, uid) : null;
  return { words, cwd, uid, env, state, flags, key, name: key === null ? null : recordName(key) };
}

test("the keys of runs are those in the file that the front is tested with", () => {
  const made = { build: BUILD, read: READ_VARIABLES, cases: STARTS.map(keyed) };
  if (Bun.env["CORDON_WRITE_GOLDEN"] === "1") writeFileSync(FILE, `${JSON.stringify(made, null, 2)}\n`);
  expect(made).toEqual(JSON.parse(readFileSync(FILE, "utf8")));
});

test("runs that differ in what planning reads have different keys, others the same", () => {
  const key = (change: Partial<Start>) =>
    Object.entries(keyed({ ...plain, ...change })).find(([name]) => name === "key")?.[1];
  const same = key({});
  expect(key({ words: ["--", "false"] })).toBe(same);
  for (const change of [
    { words: ["false"] },
    { cwd: "/home/ada" },
    { env: { ...HOME, HOME: "/home/eve" } },
    { env: { ...HOME, NEW: "" } },
    { env: { ...HOME, TMPDIR: "" } },
  ])
    expect(key(change)).not.toBe(same);
  expect(key({ env: { ...HOME, LANG: "C" } })).toBe(key({ env: { ...HOME, LANG: "en" } }));
});
