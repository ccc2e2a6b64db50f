// A plan that is used again must be the plan that would be made now: the launcher decides, over a world that changes.
import { afterAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createCore } from "../../mod.ts";
import { beginLooks, endLooks } from "../../config/look.ts";
import type { World } from "../../config/world.ts";
import type { Asker } from "../../contract/asking.ts";
import type { Decision } from "../../contract/verdict.ts";
import { DEFAULT_SANDBOX_REQUEST } from "../../contract/sandbox_request.ts";
import { git, tempFolder } from "../../testing/temp_folder.ts";
import { openLauncher } from "./launcher_file.ts";
import { createMachine } from "./probe.ts";
import { recordOf } from "./run_record.ts";

const NOBODY: Asker = { canAsk: () => false, ask: async () => ({ choice: "deny" }) };

const linux = process.platform === "linux";
const state = tempFolder();
afterAll(() => state[Symbol.dispose]());

/** A home with secrets, a workspace with a repository in it, and two folders of PATH. */
function makeWorld() {
  const folder = tempFolder({
    "home/.ssh/id_rsa": "key",
    "home/.npmrc": "token",
    "home/work/src/main.c": "",
    "home/work/docs/": "",
    "home/work/.envrc": "export A=1",
    "bin/tool": "",
    "away/file": "",
  });
  git(folder.at("home/work"), "init", "-q");
  writeFileSync(join(state.root, "replan"), "#!/bin/sh\necho replan\n", { mode: 0o755 });
  const env = {
    HOME: folder.at("home"),
    PATH: `${folder.at("bin")}:/usr/bin:/bin`,
    CORDON_STATE_DIR: state.at("state"),
  };
  const world: World = {
    argv: [],
    program: join(state.root, "replan"),
    env,
    cwd: folder.at("home/work"),
    pid: process.pid,
    platform: "linux",
    uid: process.geteuid?.() ?? -1,
    gid: process.getegid?.() ?? -1,
    stdinIsTty: false,
  };
  return { folder, world };
}

type Made = { record: object; settled: boolean };

/** The one path as far as the plan, and what it looked at. Null where planning refuses. */
async function plan(world: World): Promise<Made | null> {
  beginLooks();
  const core = createCore({ world, asker: NOBODY, background: "refused" });
  const input = { argv: ["true"], sandbox: DEFAULT_SANDBOX_REQUEST, timeoutMs: null, stdio: "replace" };
  const request = { id: "run", door: "run", tool: "run", input, signal: new AbortController().signal } as const;
  const answer = await core.explain(request);
  const looks = endLooks();
  await core.close();
  if (!answer.ok || !answer.plan.sandbox || !answer.plan.rules || !looks) return null;
  const launcher = openLauncher(state.at("state"), world.uid);
  const machine = createMachine(() => launcher, state.at("state")).marks();
  closeSync(launcher.fd);
  const decision: Decision = { verdict: "allow", reason: "", by: "mode", trace: [] };
  const parts = {
    plan: answer.plan.sandbox,
    rules: answer.plan.rules,
    looks,
    machine,
    decision,
    input,
    env: world.env,
  };
  return { record: recordOf({ ...parts, log: state.at("audit.jsonl") }, []), settled: looks.settled };
}

/** Whether the launcher takes the plan of a record, or starts cordon again. */
function isTaken(record: object, world: World): boolean {
  const path = state.at("record");
  writeFileSync(path, `key\nlauncher\n${JSON.stringify(record)}`, { mode: 0o600 });
  const fd = openSync(path, "r");
  const launcher = openLauncher(state.at("state"), world.uid);
  const words = ["direct", "--record=3", `--cordon=${world.program}`, "--flags=0", "--row=", "--since=0", "true"];
  const end = Bun.spawnSync([launcher.program, ...words], { env: world.env, stdio: ["ignore", "pipe", "pipe", fd] });
  closeSync(launcher.fd);
  closeSync(fd);
  return !end.stdout.toString().includes("replan");
}

/** What a record holds beside what was seen. */
function planIn(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => name !== "witness"));
}

type Change = (at: (name: string) => string) => void;

const write =
  (name: string, text = "x"): Change =>
  (at) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
const remove =
  (name: string): Change =>
  (at) =>
    rmSync(at(name), { recursive: true, force: true });
const folder =
  (name: string): Change =>
  (at) => {
    rmSync(at(name), { recursive: true, force: true });
    mkdirSync(at(name), { recursive: true });
  };
const link =
  (name: string, target: string): Change =>
  (at) => {
    rmSync(at(name), { recursive: true, force: true });
    mkdirSync(dirname(at(name)), { recursive: true });
    symlinkSync(target.startsWith("/") ? target : at(target), at(name));
  };
const append =
  (name: string): Change =>
  (at) =>
    appendFileSync(at(name), "\n");

const W = "home/work";
const CHANGES: Change[] = [
  ...[`${W}/.env`, `${W}/src/.env.local`, `${W}/deep/er/.env`, `${W}/.npmrc`, `${W}/.vscode/tasks.json`].flatMap(
    (name) => [write(name), remove(name)],
  ),
  ...[`${W}/.git/hooks/pre-commit`, `${W}/.git/config.worktree`, `${W}/.git/commondir`, `${W}/.gitmodules`].flatMap(
    (name) => [write(name), remove(name)],
  ),
  write(`${W}/.gitmodules`, '[submodule "s"]\n\tpath = docs/sub\n'),
  write(`${W}/docs/sub/.git`, "gitdir: ../../.git/modules/sub\n"),
  write(`${W}/.git/modules/sub/HEAD`, "ref: refs/heads/main\n"),
  remove(`${W}/.git/hooks`),
  folder(`${W}/.git/hooks`),
  link(`${W}/.git/hooks`, "away"),
  link(`${W}/.envrc`, "away/file"),
  link(`${W}/.envrc`, "nowhere"),
  write(`${W}/.envrc`),
  folder(`${W}/src/.git`),
  write(`${W}/src/.git`, "gitdir: /nowhere\n"),
  remove(`${W}/src/.git`),
  link(`${W}/linked`, "away"),
  remove(`${W}/linked`),
  ...["home/.ssh", "home/.aws", "home/.config/gcloud", "home/.cargo/registry", "home/.bun"].flatMap((name) => [
    folder(name),
    remove(name),
    link(name, "away"),
  ]),
  ...["home/.npmrc", "home/.netrc", "home/.gitconfig"].flatMap((name) => [write(name), remove(name), folder(name)]),
  ...["bin", "away"].flatMap((name) => [folder(name), remove(name), write(`${name}/file`)]),
  link("bin", "/opt"),
  write(`${W}/src/main.c`, "int main;"),
  write(`${W}/docs/new.md`),
  append("home/.npmrc"),
  (at) => renameSync(at(`${W}/docs`), at(`${W}/docs2`)),
  (at) => renameSync(at(`${W}/docs2`), at(`${W}/docs`)),
  (at) => renameSync(at(`${W}/.git`), at("away/.git")),
  (at) => renameSync(at("away/.git"), at(`${W}/.git`)),
];

/** Longer than a ctime may be shared by two changes. */
const SETTLE_MS = 60;
const WORLDS = 12;
const ROUNDS = 45;

describe.skipIf(!linux)("a plan is used again only where it is the plan that would be made now", () => {
  test(`over ${WORLDS * ROUNDS} changes of the world`, async () => {
    const worlds = Array.from({ length: WORLDS }, makeWorld);
    const counts = { taken: 0, anew: 0, same: 0 };
    let seed = 7;
    const next = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return (seed >>> 8) % below;
    };
    for (let round = 0; round < ROUNDS; round++) {
      await Bun.sleep(SETTLE_MS);
      for (const { folder, world } of worlds) {
        const old = await plan(world);
        if (!old?.settled) continue;
        if (next(10) === 0) {
          // The twin: where nothing changes the plan holds.
          expect(isTaken(old.record, world)).toBe(true);
          counts.same++;
        }
        const at = next(CHANGES.length);
        try {
          CHANGES[at]?.((name) => folder.at(name));
        } catch {
          // Nothing stands there to be changed; half of a change is one too.
        }
        const taken = isTaken(old.record, world);
        counts[taken ? "taken" : "anew"]++;
        const fresh = await plan(world);
        if (taken) expect({ at, plan: fresh && planIn(fresh.record) }).toEqual({ at, plan: planIn(old.record) });
      }
    }
    for (const { folder } of worlds) folder[Symbol.dispose]();
    // Both happen, often enough to mean something.
    console.log(
      `  plans taken after a change ${counts.taken}, made anew ${counts.anew}; without one taken ${counts.same}`,
    );
    expect(counts.same).toBeGreaterThan(20);
    expect(counts.taken).toBeGreaterThan(50);
    expect(counts.anew).toBeGreaterThan(50);
    expect(counts.taken + counts.anew).toBeGreaterThan(500);
  }, 240_000);
});
