// A18, E4: odd homes, folders, users and streams: cordon runs the command there, or says what is wrong and runs nothing.
import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cordonPath, scratchEnvironment, SYSTEM_PATH } from "../support/run_cordon.ts";
import { giveTo, makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { sharedCordon } from "../support/tiers.ts";

type End = { code: number; stdout: string; stderr: string };

/** Runs a shell script on the host; "$cordon" is the executable. */
function onHost(scratch: Scratch, script: string, more: Record<string, string | undefined> = {}): End {
  const env = { ...scratchEnvironment(scratch), cordon: cordonPath(), ...more };
  const end = Bun.spawnSync(["sh", "-c", script], { cwd: scratch.work, env });
  return { code: end.exitCode, stdout: end.stdout.toString(), stderr: end.stderr.toString() };
}

const SAY = '"$cordon" run -- sh -c "echo in"';
const IN = { code: 0, stdout: "in\n" };
const root = process.geteuid?.() === 0;
const mounts = root && Bun.spawnSync(["unshare", "--mount", "true"]).exitCode === 0;
const noMounts = mounts ? "" : " (skipped: the tests may not mount)";

function inScratch(title: string, body: (scratch: Scratch) => void, skip: "skip" | "run" = "run"): void {
  test.skipIf(skip === "skip")(title, () => {
    const scratch = makeScratch();
    try {
      body(scratch);
    } finally {
      removeScratch(scratch);
    }
  });
}

inScratch("A18 without HOME the account's own home counts", (scratch) => {
  expect(onHost(scratch, SAY, { HOME: undefined })).toMatchObject(IN);
  expect(onHost(scratch, SAY, { HOME: "" })).toMatchObject(IN);
});

inScratch("A18 a HOME that does not exist is said, with what to do, and nothing runs", (scratch) => {
  const end = onHost(scratch, SAY, { HOME: "/no/such/home" });
  expect(end).toMatchObject({ code: 121, stdout: "" });
  expect(end.stderr).toContain("set HOME to a folder that exists");
});

inScratch("A18 a TMPDIR that does not exist does not matter: the command has its own", (scratch) => {
  expect(
    onHost(scratch, '"$cordon" run -- sh -c "mktemp > /dev/null && echo in"', { TMPDIR: "/no/such" }),
  ).toMatchObject(IN);
});

inScratch("A18 a current folder with a name of 3,600 bytes", (scratch) => {
  const deep = join(scratch.work, ...Array.from({ length: 18 }, () => "d".repeat(199)));
  mkdirSync(deep, { recursive: true });
  expect(onHost(scratch, `cd "${deep}" && "$cordon" run -- sh -c "echo in > f && cat f"`)).toMatchObject(IN);
});

inScratch("A18 a current folder that is gone: nothing runs, and the first line says why", (scratch) => {
  const end = onHost(scratch, `mkdir gone && cd gone && rmdir ../gone && ${SAY}`);
  expect(end.code).not.toBe(0);
  expect(end).toMatchObject({ stdout: "", stderr: expect.stringContaining("directory was deleted") });
});

inScratch("E4 closed stdin, stdout and stderr", (scratch) => {
  expect(onHost(scratch, `${SAY} <&-`)).toMatchObject(IN);
  expect(onHost(scratch, `${SAY} >&-`)).toMatchObject({ stdout: "" });
  expect(onHost(scratch, `${SAY} 2>&-`)).toMatchObject(IN);
  expect(onHost(scratch, '"$cordon" run -- sh -c "echo in > closed" <&- >&- 2>&-').code).toBe(0);
  expect(readFileSync(join(scratch.work, "closed"), "utf8")).toBe("in\n");
});

/** `script` in a mount namespace of its own. */
const mounted = (mount: string, script: string) => `exec unshare --mount sh -c '${mount} && ${script}'`;

inScratch(
  `A18 a state folder where nothing may be executed is said, and nothing runs${noMounts}`,
  (scratch) => {
    const end = onHost(scratch, mounted('mount -t tmpfs -o noexec,mode=0700 none "$CORDON_STATE_DIR"', SAY));
    expect(end).toMatchObject({ code: 120, stdout: "" });
    expect(end.stderr).toContain("noexec");
    expect(onHost(scratch, mounted('mount -t tmpfs -o mode=0700 none "$CORDON_STATE_DIR"', SAY))).toMatchObject(IN);
  },
  mounts ? "run" : "skip",
);

inScratch(
  `A18 a home that is read-only: another state folder is wanted, and with one it runs${noMounts}`,
  (scratch) => {
    const readOnly = 'mount -t tmpfs -o ro none "$HOME"';
    const end = onHost(scratch, mounted(readOnly, SAY), { CORDON_STATE_DIR: undefined });
    expect(end).toMatchObject({ code: 121, stdout: "" });
    expect(end.stderr).toContain("set CORDON_STATE_DIR");
    expect(onHost(scratch, mounted(readOnly, SAY))).toMatchObject(IN);
  },
  mounts ? "run" : "skip",
);

const folder = mkdtempSync(join(tmpdir(), "e2e-cordon-bin-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

inScratch(
  `A18 a user without an account${root ? "" : " (skipped: only root can become one)"}`,
  (scratch) => {
    const uid = 54_321;
    giveTo(scratch.top, uid);
    const become = `exec setpriv --reuid=${uid} --regid=${uid} --clear-groups "$cordon" run -- sh -c 'echo in && touch made'`;
    const cordon = existsSync(join(folder, "cordon")) ? join(folder, "cordon") : sharedCordon(folder);
    expect(onHost(scratch, become, { cordon, PATH: SYSTEM_PATH })).toMatchObject(IN);
    expect(existsSync(join(scratch.work, "made"))).toBe(true);
  },
  root ? "run" : "skip",
);
