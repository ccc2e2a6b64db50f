// The exit codes of `cordon run`, each with what must not have happened.
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCordon, runShell, type Surroundings } from "../support/run_cordon.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { findCell, OWN_CELLS } from "../support/tiers.ts";

const scratch = makeScratch();
const here: Surroundings = { scratch };
afterAll(() => removeScratch(scratch));

/** Runs `touch ran` with these flags and says whether it ran. */
async function tryFlags(flags: string[], around: Surroundings = here) {
  const marker = join(around.scratch.work, "ran");
  const end = await runCordon(["run", ...flags, "--", "touch", "ran"], around);
  return { ...end, ran: existsSync(marker) };
}

describe("the command's own end", () => {
  for (const code of [0, 1, 3, 42, 119, 120, 124, 255]) {
    test(`E9 exit ${code} is reported as ${code}`, async () => {
      expect((await runShell(`exit ${code}`, here)).code).toBe(code);
    });
  }
  const SIGNALS = { HUP: 129, INT: 130, QUIT: 131, ABRT: 134, KILL: 137, SEGV: 139, TERM: 143 };
  for (const [name, code] of Object.entries(SIGNALS)) {
    test(`E9 a command ended by SIG${name} is reported as ${code}`, async () => {
      expect(await runShell(`kill -${name} $$; sleep 30`, here)).toMatchObject({ code, signal: null });
    });
  }
  test("E8 --timeout ends the command with 124 and says so", async () => {
    const end = await runShell("echo begun; sleep 1000", here, ["--timeout", "700ms"]);
    expect(end).toMatchObject({ code: 124, stdout: "begun\n" });
    expect(end.stderr).toContain("cordon: ended after the time limit of 700 ms");
  });
  test("E8 a command that ends before its --timeout keeps its own code", async () => {
    expect((await runShell("exit 9", here, ["--timeout", "5m"])).code).toBe(9);
  });
});

describe("127 and 126 as a shell would say", () => {
  test("E9 a program that does not exist is 127, by name and by path", async () => {
    expect((await runCordon(["run", "--", "no-such-program-a1b2"], here)).code).toBe(127);
    expect((await runCordon(["run", "--", "./no-such-file"], here)).code).toBe(127);
  });
  test("E9 a file without the execute bit is 126, and with it runs", async () => {
    const script = join(scratch.work, "script.sh");
    writeFileSync(script, "#!/bin/sh\nexit 5\n", { mode: 0o644 });
    expect((await runCordon(["run", "--", "./script.sh"], here)).code).toBe(126);
    chmodSync(script, 0o755);
    expect((await runCordon(["run", "--", "./script.sh"], here)).code).toBe(5);
  });
  test("E9 a folder is 126", async () => {
    mkdirSync(join(scratch.work, "folder"));
    expect((await runCordon(["run", "--", "./folder"], here)).code).toBe(126);
  });
  test("E9 a script whose interpreter does not exist is 126 or 127, never the command's own code", async () => {
    writeFileSync(join(scratch.work, "lost.sh"), "#!/no/such/interpreter\n", { mode: 0o755 });
    expect([126, 127]).toContain((await runCordon(["run", "--", "./lost.sh"], here)).code ?? -1);
  });
});

describe("120: what is demanded can't be enforced, and nothing ran", () => {
  test("A18 --require limits is 120 with the property, the reason and what would help", async () => {
    const end = await tryFlags(["--require", "limits"]);
    expect(end).toMatchObject({ code: 120, ran: false });
    expect(end.stderr).toContain("sandbox.unenforced");
    expect(end.stderr).toContain("limits");
    expect(end.stderr).toContain("hint:");
  });
  const hardened = OWN_CELLS.find(({ namespaces }) => namespaces === "without");
  const cell = hardened ? findCell(hardened) : ({ found: false, why: "no such cell" } as const);
  for (const property of ["fs.protected", "fs.read_hidden", "proc.isolated", "net.loopback"]) {
    const title = `A18 without user namespaces --require ${property}`;
    if (!cell.found) test.skip(`${title}: ${cell.why}`, () => {});
    else testHardened(title, property, cell.wrap);
  }
});

/** Runs only where doctor says that it is enforced, and is 120 otherwise: the promise and the deed must agree. */
function testHardened(title: string, property: string, wrap: (argv: string[]) => string[]): void {
  test(`${title} agrees with doctor: it runs where enforced, else 120 and nothing ran`, async () => {
    const own = makeScratch();
    const around = { scratch: own, wrap };
    try {
      const report = JSON.parse((await runCordon(["doctor", "--json"], around)).stdout);
      expect(report.tier).toBe("landlock");
      const row = report.properties.find((found: { property: string }) => found.property === property);
      const end = await tryFlags(["--require", property], around);
      if (row.state === "enforced") expect(end).toMatchObject({ code: 0, ran: true });
      else expect(end).toMatchObject({ code: 120, ran: false, stderr: expect.stringContaining(property) });
    } finally {
      removeScratch(own);
    }
  });
}

describe("121: bad usage, and nothing ran", () => {
  const BAD: Record<string, string[]> = {
    "an unknown flag": ["--alow-write=/x"],
    "a misspelt mode": ["--mode", "read-onyl"],
    "a flag without its value": ["--timeout"],
    "a time limit of zero": ["--timeout", "0"],
    "an unknown property": ["--require", "fs.everything"],
    "a host list for --allow-net": ["--allow-net=example.org"],
    "a memory limit that is no size": ["--memory", "lots"],
    "a limit of no processes": ["--pids=0"],
    "a share of a processor that is no share": ["--cpu=fast"],
    "a file size that is no size": ["--file-size=-1"],
    "an output limit that is no size": ["--output=some"],
    "a word that --trust-files does not know": ["--trust-files=maybe"],
    "a kind of report that there is not": ["--report=everything"],
    "a socket that there is not": ["--allow-unix=/run/no-such-folder/x.sock"],
    "--profile, which is not built yet": ["--profile=strict"],
    "--json without --explain": ["--json"],
    "a value where a flag takes none": ["--explain=yes"],
    "a path of another user's home": ["--allow-read=~root/x"],
    "an empty list entry": ["--allow-read=a,,b"],
    "a variable name that is none": ["--allow-env=A-B"],
    "an events file that can't be written": ["--events", "/no/such/folder/events.jsonl"],
  };
  for (const [what, flags] of Object.entries(BAD)) {
    test(`F5 ${what} is 121 with a message on stderr only`, async () => {
      const end = await tryFlags(flags);
      expect(end).toMatchObject({ code: 121, ran: false, stdout: "" });
      expect(end.stderr).toStartWith("cordon: ");
    });
  }
  test("F5 no command is 121", async () => {
    expect((await runCordon(["run"], here)).code).toBe(121);
    expect((await runCordon(["run", "--"], here)).code).toBe(121);
    expect((await runCordon(["run", "--", ""], here)).code).toBe(121);
  });
  test("F5 no arguments at all is 121 and shows the commands; an unknown command is 121 with the nearest name", async () => {
    expect(await runCordon([], here)).toMatchObject({ code: 121, stderr: expect.stringContaining("Commands:") });
    expect(await runCordon(["rnu"], here)).toMatchObject({
      code: 121,
      stderr: expect.stringContaining("did you mean run"),
    });
  });
  test("A26 a misspelt CORDON_PERMISSION_MODE is 121: it must not loosen", async () => {
    const end = await tryFlags([], { ...here, env: { CORDON_PERMISSION_MODE: "alow" } });
    expect(end).toMatchObject({ code: 121, ran: false, stderr: expect.stringContaining("CORDON_PERMISSION_MODE") });
  });
  test("F5 --explain prints the plan, runs nothing and is 0", async () => {
    const end = await tryFlags(["--explain"]);
    expect(end).toMatchObject({ code: 0, ran: false });
    expect(end.stdout).toContain(scratch.work);
    const plan = JSON.parse((await tryFlags(["--explain", "--json"])).stdout);
    expect(plan.sandbox.command.argv).toEqual(["touch", "ran"]);
  });
  test("E10 in mode read-only the command can't write the workspace, and --allow-write names what it can", async () => {
    expect(await tryFlags(["--mode", "read-only"])).toMatchObject({ code: 1, ran: false });
    const around = { ...here, env: { CORDON_PERMISSION_MODE: "read-only" } };
    expect(await tryFlags([], around)).toMatchObject({ code: 1, ran: false });
    mkdirSync(join(scratch.work, "out"));
    expect((await runShell("touch out/file", here, ["--mode", "read-only", "--allow-write=out"])).code).toBe(0);
  });
  test("F5 the good twin of all of these runs", async () => {
    expect(await tryFlags(["--mode", "workspace-write", "--timeout", "5m"])).toMatchObject({ code: 0, ran: true });
  });
});

test("E9 the name of a program that is not there is shown with its control characters made visible", async () => {
  const end = await runCordon(["run", "--", "no\u001b[31msuch\u202eprogram"], { scratch });
  expect(end.code).toBe(127);
  expect(end.stderr).toContain("such");
  expect(end.stderr).not.toContain("\u001b");
  expect(end.stderr).not.toContain("\u202e");
});
