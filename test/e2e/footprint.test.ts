// E4, A25: many runs at once, and what a run leaves behind: the workspace as it was, and two rows in the log.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processesWith, uniqueSleep } from "../support/processes.ts";
import { missingPrograms, runCordon, runShell, startCordon, type Surroundings } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { git, makeRepository } from "../support/scratch_repository.ts";
import { findCell, OWN_CELLS } from "../support/tiers.ts";
import { waitFor } from "../support/wait_for.ts";

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => removeScratch(scratch));

const AT_ONCE = 20;
const hasGit = missingPrograms(["git"]).length === 0;

/** Names in the system's temporary folder that cordon gives to what it makes there. */
function ownTemporaries(): string[] {
  return readdirSync(tmpdir()).filter((name) => /^\.?cordon-/.test(name));
}

type Row = { row: string; id: string; at: number; call?: string; ok?: boolean };

function auditRows(): Row[] {
  const lines = readFileSync(join(scratch.state, "audit.jsonl"), "utf8").split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => JSON.parse(line));
}

async function runAtOnce(around: Surroundings): Promise<void> {
  const runs = Array.from({ length: AT_ONCE }, () => runCordon(["run", "--", "true"], around));
  for (const end of await Promise.all(runs)) expect(end).toMatchObject({ code: 0, stdout: "", stderr: "" });
}

for (const cell of OWN_CELLS) {
  const found = findCell(cell);
  const title = `E4 ${AT_ONCE} runs at once in one folder ${cell.namespaces} user namespaces all exit 0 and leave nothing`;
  if (!found.found || !hasGit) test.skip(`${title}: ${found.found ? "git missing" : found.why}`, () => {});
  else
    test(title, async () => {
      makeRepository(scratch);
      const names = readdirSync(scratch.work).sort();
      const temporaries = ownTemporaries();
      await runAtOnce({ scratch, wrap: found.wrap });
      expect(git(scratch, ["status", "--porcelain"])).toBe("");
      expect(readdirSync(scratch.work).sort()).toEqual(names);
      expect(readdirSync(scratch.home)).toEqual([]);
      expect(ownTemporaries().filter((name) => !temporaries.includes(name))).toEqual([]);
      expect(auditRows()).toHaveLength(2 * AT_ONCE);
    });
}

test("E4 first runs that race for a fresh state folder all succeed and leave one launcher", async () => {
  rmSync(scratch.state, { recursive: true });
  await runAtOnce({ scratch });
  const launchers = readdirSync(scratch.state).filter((name) => /^launcher-[0-9a-f]+$/.test(name));
  expect(launchers).toHaveLength(1);
  expect(statSync(join(scratch.state, launchers[0] ?? "")).mode & 0o7777).toBe(0o500);
  expect(statSync(scratch.state).mode & 0o777).toBe(0o700);
});

test("E4 a damaged, a writable and a linked launcher in the cache are replaced, never run", async () => {
  expect((await runShell("true", { scratch })).code).toBe(0);
  const name = readdirSync(scratch.state).find((entry) => entry.startsWith("launcher-"));
  const launcher = join(scratch.state, name ?? "");
  const sound = readFileSync(launcher);
  const evil = join(scratch.top, "evil");
  writeFileSync(evil, "#!/bin/sh\ntouch ../work/owned\n", { mode: 0o500 });
  const damage: [string, () => void][] = [
    ["one byte changed", () => writeFileSync(launcher, Buffer.concat([sound.subarray(0, -1), Buffer.from([0])]))],
    ["cut short", () => writeFileSync(launcher, sound.subarray(0, 1000))],
    ["another program", () => writeFileSync(launcher, "#!/bin/sh\ntouch ../work/owned\n")],
    ["a link to another program", () => symlinkSync(evil, launcher)],
    ["gone", () => {}],
  ];
  for (const [what, spoil] of damage) {
    // A new file: one that is still being run can't be written to (ETXTBSY).
    rmSync(launcher);
    spoil();
    if (existsSync(launcher)) chmodSync(launcher, 0o500);
    expect(await runShell("echo fine", { scratch }), what).toMatchObject({ code: 0, stdout: "fine\n" });
    expect(Buffer.compare(readFileSync(launcher), sound), what).toBe(0);
  }
  chmodSync(launcher, 0o700);
  expect((await runShell("true", { scratch })).code).toBe(0);
  expect(lstatSync(launcher).mode & 0o7777).toBe(0o500);
  expect(existsSync(join(scratch.work, "owned"))).toBe(false);
});

for (const cell of OWN_CELLS) {
  const found = findCell(cell);
  const title = `E4 SIGKILL in the middle of a run ${cell.namespaces} user namespaces leaves nothing in the workspace`;
  if (!found.found) test.skip(`${title}: ${found.why}`, () => {});
  else
    test(title, async () => {
      for (const name of [".envrc", ".env"]) writeFileSync(join(scratch.work, name), "A=1\n");
      const before = readdirSync(scratch.work).sort();
      const mark = uniqueSleep();
      const started = startCordon(["run", "--", "sleep", mark], { scratch, wrap: found.wrap });
      await waitFor("the command to run", () => processesWith(mark).length >= 2);
      started.kill("SIGKILL");
      await started.finished();
      await waitFor("the tree to be gone", () => processesWith(mark).length === 0);
      expect(readdirSync(scratch.work).sort()).toEqual(before);
      // What remains is the evidence: a row that was opened and never closed.
      expect(auditRows().map(({ row }) => row)).toEqual(["open"]);
    });
}

test("A25 each call has one open and one close row with the same id, in a file of mode 0600, without its words", async () => {
  const secret = "hush-in-the-command";
  await runShell(`echo ${secret} > /dev/null`, { scratch });
  await runShell("exit 3", { scratch });
  await runCordon(["call", "bash", JSON.stringify({ command: `echo ${secret}` })], { scratch });
  await runCordon(["call", "no_such_tool", "{}"], { scratch });
  const rows = auditRows();
  expect(rows.map(({ row }) => row)).toEqual(["open", "close", "open", "close", "open", "close", "open", "close"]);
  for (let at = 0; at < rows.length; at += 2) expect(rows[at]?.id).toBe(rows[at + 1]?.id ?? "");
  expect(rows.at(-1)).toMatchObject({ ok: false, code: "tool.unknown", stage: "validate" });
  const log = join(scratch.state, "audit.jsonl");
  expect(statSync(log).mode & 0o777).toBe(0o600);
  expect(readFileSync(log, "utf8")).not.toContain(secret);
});

test("A25 when the log can't be written nothing runs: 121 and audit.unwritable", async () => {
  const blocked = join(scratch.top, "file");
  writeFileSync(blocked, "");
  const around = { scratch, env: { CORDON_STATE_DIR: join(blocked, "state") } };
  const end = await runCordon(["run", "--", "touch", "ran"], around);
  expect(end).toMatchObject({ code: 121, stderr: expect.stringContaining("audit.unwritable") });
  expect(existsSync(join(scratch.work, "ran"))).toBe(false);
});

test("A25 a state folder that others can write stops the run: 121 and state.insecure", async () => {
  chmodSync(scratch.state, 0o777);
  const end = await runCordon(["run", "--", "touch", "ran"], { scratch });
  expect(end).toMatchObject({ code: 121, stderr: expect.stringContaining("state.insecure") });
  expect(existsSync(join(scratch.work, "ran"))).toBe(false);
  chmodSync(scratch.state, 0o700);
  expect((await runCordon(["run", "--", "touch", "ran"], { scratch })).code).toBe(0);
});

const hasBwrap = missingPrograms(["bwrap"]).length === 0;
if (!hasBwrap) console.log("skipped: cordon inside bubblewrap, because bwrap is not installed");

for (const [what, flags] of [
  ["another namespace's /proc", []],
  ["a /proc of its own", ["--proc", "/proc"]],
] as const) {
  test.skipIf(!hasBwrap)(`E4 cordon starts inside bubblewrap with ${what}, and still confines`, async () => {
    const wrap = (argv: string[]) => ["bwrap", "--dev-bind", "/", "/", "--unshare-all", ...flags, ...argv];
    // Facts that were remembered outside must not be believed inside.
    expect((await runCordon(["run", "--", "true"], { scratch })).code).toBe(0);
    const allowed = await runShell("echo in > made && cat made", { scratch, wrap });
    expect([allowed.code, allowed.stdout]).toEqual([0, "in\n"]);
    const refused = await runShell("echo x > ~/.bashrc", { scratch, wrap });
    expect(refused.code).not.toBe(0);
    expect(existsSync(join(scratch.home, ".bashrc"))).toBe(false);
  });
}
