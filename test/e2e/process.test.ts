// E4, E5, E8, E9: signals, terminals, descriptors and what a process in the sandbox may not do, in both tiers.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { processesWith, uniqueSleep } from "../support/processes.ts";
import { missingPrograms, runCordon, runShell, startCordon } from "../support/run_cordon.ts";
import { describeEachTier, type TierPlace } from "../support/each_tier.ts";
import { runAtTerminal } from "../support/terminal.ts";

import { waitFor } from "../support/wait_for.ts";

const python = missingPrograms(["python3"]).length === 0;

describeEachTier((place) => {
  describeSignals(place);
  describeTerminal(place);
  describeEnding(place);
  describeStreams(place);
  describeEnvironment(place);
});

function describeSignals({ scratch, around }: TierPlace): void {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGWINCH"] as const;
  // With nobody above the launcher, and with cordon above it.
  const ways = [[], ["--timeout", "5m"]];
  for (const [signal, flags] of signals.flatMap((signal) => ways.map((flags) => [signal, flags] as const))) {
    test(`E8 ${signal} to cordon run ${flags.join(" ")} reaches the command: its trap runs and its status is told`, async () => {
      const name = `ready-${signal}-${flags.length}`;
      const ready = join(scratch.work, name);
      const trap = `trap 'echo caught; exit 7' ${signal.slice(3)}`;
      const started = startCordon(
        ["run", ...flags, "--", "sh", "-c", `${trap}; touch ${name}; while :; do sleep 0.05; done`],
        around,
      );
      await waitFor("the command to start", () => existsSync(ready));
      started.kill(signal);
      expect(await started.finished()).toMatchObject({ code: 7, stdout: "caught\n" });
    });
  }
  test("E8 a command without a trap is ended by SIGTERM to cordon, and the exit code says so", async () => {
    const mark = uniqueSleep();
    const started = startCordon(["run", "--", "sleep", mark], around);
    await waitFor("sleep to run", () => processesWith(mark).length >= 2);
    started.kill("SIGTERM");
    expect((await started.finished()).code).toBe(143);
  });
}

function describeTerminal({ scratch, around }: TierPlace): void {
  test.skipIf(!python)("E8 Ctrl-C at a terminal reaches the command exactly once", () => {
    const script = `trap 'echo INT >> caught' INT; echo prompt; n=0; while [ $n -lt 40 ]; do sleep 0.05; n=$((n+1)); [ -f caught ] && sleep 0.5 && exit 9; done`;
    const end = runAtTerminal(["run", "--", "sh", "-c", script], around, { after: "prompt", keys: "\x03" });
    expect(end).toMatchObject({ code: 9 });
    expect(readFileSync(join(scratch.work, "caught"), "utf8")).toBe("INT\n");
  });
  test.skipIf(!python)("E8 job control works at a terminal", () => {
    const script = "set -m; sleep 0.1 & echo prompt; fg; echo finished";
    const end = runAtTerminal(["run", "--", "bash", "-c", script], around, { after: "prompt", keys: "" });
    expect(end.code).toBe(0);
    expect(end.shown).toContain("finished");
    expect(end.shown).not.toContain("no job control");
  });
  test.skipIf(!python)("E5 a command can't type into its terminal with TIOCSTI, not with high bits set either", () => {
    const script = `
import fcntl, errno
for request in (0x5412, 0x100005412, 0x541c):
    try:
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        print("result", libc.ioctl(0, ctypes.c_ulong(request), ctypes.c_char_p(b"\\x03")), errno.errorcode.get(ctypes.get_errno()))
    except OSError as error: print("error", error)
`;
    const end = runAtTerminal(["run", "--", "python3", "-c", script], around, { after: "never", keys: "" });
    expect(end.code).toBe(0);
    expect(end.shown.replaceAll("\r", "")).toBe("result -1 EPERM\nresult -1 EPERM\nresult -1 EPERM\n");
  });
}

/** A tree that tries to outlive its parent: a session of its own, a double fork, and a nohup. */
const DAEMONS = (mark: string) =>
  `setsid sleep ${mark} & (setsid sh -c 'sleep ${mark} & sleep ${mark}' &) ; nohup sleep ${mark} >/dev/null 2>&1 &`;

function describeEnding({ scratch, around }: TierPlace): void {
  test("E7 SIGKILL of cordon leaves no process, daemons neither", async () => {
    const mark = uniqueSleep();
    const started = startCordon(["run", "--", "sh", "-c", `${DAEMONS(mark)} touch up; sleep ${mark}`], around);
    await waitFor("the tree to stand", () => existsSync(join(scratch.work, "up")) && processesWith(mark).length >= 6);
    started.kill("SIGKILL");
    await waitFor("every process of the tree to be gone", () => processesWith(mark).length === 0);
    expect((await started.finished()).signal).toBe("SIGKILL");
  });
  test("E7 daemons that a command leaves behind do not hold up its end and do not outlive it", async () => {
    const mark = uniqueSleep();
    const script = `exec >/dev/null 2>&1; ${DAEMONS(mark)} exit 4`;
    expect((await runShell(script, around)).code).toBe(4);
    await waitFor("the daemons to be gone", () => processesWith(mark).length === 0);
  });
  test("A13 a time-out ends the whole tree", async () => {
    const mark = uniqueSleep();
    const end = await runShell(`exec >/dev/null 2>&1; ${DAEMONS(mark)} sleep ${mark}`, around, ["--timeout", "1s"]);
    expect(end.code).toBe(124);
    await waitFor("the tree to be gone", () => processesWith(mark).length === 0);
  });
}

function describeStreams({ around }: TierPlace): void {
  test("E8 stdin to stdout keeps every byte, a megabyte of them", async () => {
    const bytes = Buffer.concat(Array.from({ length: 16 }, () => crypto.getRandomValues(new Uint8Array(65_536))));
    const end = await runCordon(["run", "--", "cat"], around, bytes);
    expect(end.code).toBe(0);
    expect(Buffer.compare(end.bytes, bytes)).toBe(0);
  });
  test("E2 arguments with spaces, quotes, newlines, dashes, UTF-8 and nothing at all arrive as given", async () => {
    const args = ["a b", "'\"", "line\nline", "", "--flag=x", "$HOME `id`", "\\", "grüße 漢字", "*"];
    const end = await runCordon(["run", "--", "sh", "-c", 'printf "%s\\0" "$@"', "sh", ...args], around);
    expect(end.stdout.split("\0").slice(0, -1)).toEqual(args);
  });
  test("E4 a descriptor that the caller left open is closed in the command", async () => {
    const wrap = (argv: string[]) => {
      const inner = ["sh", "-c", 'exec 7</etc/passwd 9</etc/passwd; exec "$@"', "sh", ...argv];
      return around.wrap ? around.wrap(inner) : inner;
    };
    const look = 'for n in 3 4 5 6 7 8 9; do (eval ": <&$n") 2>/dev/null && echo "open $n"; done; echo looked';
    expect((await runShell(look, { ...around, wrap })).stdout).toBe("looked\n");
  });
  test("E8 SIGPIPE has its default action: a writer ends when nobody reads", async () => {
    const end = await runShell("{ yes; echo $? >&2; } | head -n 1", around);
    expect(end.stdout).toBe("y\n");
    expect(end.stderr).not.toContain("Broken pipe");
  });
}

function describeEnvironment({ around }: TierPlace): void {
  const secrets = {
    AWS_SECRET_ACCESS_KEY: "hush-aws",
    GITHUB_TOKEN: "hush-github",
    ANTHROPIC_API_KEY: "hush-anthropic",
    SSH_AUTH_SOCK: "/hush/agent",
    BASH_ENV: "/hush/bash_env",
    NODE_OPTIONS: "--require=/hush/preload.js",
    LD_PRELOAD: "/hush/preload.so",
    LC_TIME: "C",
  };
  test("E4 the environment comes from an allowlist: no secret and no loader variable passes", async () => {
    const end = await runCordon(["run", "--", "env"], { ...around, env: secrets });
    expect(end.code).toBe(0);
    expect(end.stdout).not.toContain("hush");
    expect(end.stdout).toContain("LC_TIME=C\n");
    expect(end.stdout).toMatch(/^PATH=/m);
  });
  test("E4 --allow-env=NAME passes that one and no other", async () => {
    const end = await runCordon(["run", "--allow-env=GITHUB_TOKEN", "--", "env"], { ...around, env: secrets });
    expect(end.stdout).toContain("GITHUB_TOKEN=hush-github\n");
    expect(end.stdout).not.toMatch(/hush-aws|hush-anthropic|preload/);
  });
  test("E4 --allow-env alone passes what is neither secret nor dangerous", async () => {
    const env = { ...secrets, MY_SETTING: "seen" };
    const end = await runCordon(["run", "--allow-env", "--", "env"], { ...around, env });
    expect(end.stdout).toContain("MY_SETTING=seen\n");
    expect(end.stdout).not.toContain("hush");
  });
}
