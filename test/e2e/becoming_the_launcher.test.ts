// E8, E10: `cordon run` replaces itself by the launcher, with a plan that was made before or just now. What people and the log
// see is what they see when cordon stays above the command (--events keeps it there).
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readStoredLog, verifyLog } from "../../core/audit/mod.ts";
import { describeEachTier, type TierPlace } from "../support/each_tier.ts";
import { processesWith, uniqueSleep } from "../support/processes.ts";
import { cordonPath, runCordon, runShell, startCordon } from "../support/run_cordon.ts";
import { waitFor } from "../support/wait_for.ts";

describeEachTier((place) => {
  describeTheSame(place);
  describeThePlan(place);
  describeTheRow(place);
});

/** A shell command between two runs, or the arguments of a run. */
type Step = string | string[];

/** `planned` says that cordon planned; otherwise it used the plan of an earlier run. */
type Run = { code: number; stdout: string; stderr: string; planned: boolean };

/**
 * Runs cordon several times from one shell: a tier that is made anew for each run is another machine each time. The pauses
 * are longer than a change may share its ctime with another.
 */
async function runInTurn({ scratch, around }: TierPlace, steps: Step[]): Promise<Run[]> {
  const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
  const at = (name: string, n: number) => join(scratch.home, `${name}-${n}`);
  let runs = 0;
  const lines = steps.map((step) => {
    if (typeof step === "string") return step;
    const n = runs++;
    const words = [cordonPath(), ...step].map(quote).join(" ");
    return `sleep 0.1; CORDON_TRACE=${at("trace", n)} ${words} > ${at("out", n)} 2> ${at("err", n)}; echo $? > ${at("code", n)}`;
  });
  await runCordon(["-c", lines.join("\n")], { ...around, binary: "/bin/sh" });
  return Array.from({ length: runs }, (_, n) => {
    const take = (name: string) => {
      const path = at(name, n);
      if (!existsSync(path)) return null;
      const text = readFileSync(path, "utf8");
      unlinkSync(path);
      return text;
    };
    return {
      code: Number(take("code")),
      stdout: take("out") ?? "",
      stderr: take("err") ?? "",
      planned: take("trace") !== null,
    };
  });
}

/** A shell script once planned anew, once with the plan of that run, and once with cordon above it. */
function threeWays(place: TierPlace, script: string): Promise<Run[]> {
  const command = ["--", "sh", "-c", script];
  const above = `--events=${join(place.scratch.home, "events")}`;
  // The first makes the state folder, which then is a place to hide.
  const runs = [
    ["run", "--", "true"],
    ["run", "--replan", ...command],
    ["run", ...command],
    ["run", above, ...command],
  ];
  return runInTurn(place, runs).then((all) => all.slice(1));
}

function describeTheSame(place: TierPlace): void {
  const scripts: Record<string, string> = {
    "an exit code": "echo out; echo err >&2; exit 7",
    "a signal": "kill -TERM $$",
    "a command that is missing": "exec no-such-command-anywhere",
    "a blocked write": "(echo x > /etc/blocked-by-a-test) 2>/dev/null; exit 3",
    "the same refusal many times": "for i in 1 2 3; do (echo x > /etc/blocked) 2>/dev/null; done; exit 0",
    "more refusals than are told": "for i in $(seq 30); do (echo x > /etc/blocked-$i) 2>/dev/null; done; exit 0",
    "a name that would steer the terminal": `(echo x > "/etc/$(printf '\\033[31mred')") 2>/dev/null; exit 0`,
    "a failure that nothing explains": "exit 9",
  };
  for (const [what, script] of Object.entries(scripts)) {
    test(`E8 ${what} comes out the same with a plan made before, made now, and with cordon above`, async () => {
      // A secret to guess at.
      writeFileSync(join(place.scratch.home, ".netrc"), "machine x\n");
      const [anew, again, above] = await threeWays(place, script);
      expect(anew).toEqual({ ...above, planned: true } as Run);
      expect(again).toEqual({ ...above, planned: false } as Run);
    });
  }
}

function describeThePlan(place: TierPlace): void {
  const { scratch, around } = place;
  const plans = join(scratch.state, "plans");
  const shell = (script: string, ...flags: string[]) => ["run", ...flags, "--", "sh", "-c", script];
  test("E8 a plan is kept in a private file, used again, and given up for a secret that was made since", async () => {
    const [, first, second, hidden] = await runInTurn(place, [
      shell("true"),
      shell("true"),
      shell("true"),
      "echo SECRET=hush > .env",
      shell("cat .env; true"),
    ]);
    expect([first?.planned, second?.planned, hidden?.planned]).toEqual([false, false, true]);
    // A secret inside a readable folder is hidden by a mount.
    if (place.tier === "namespaces") expect(hidden?.stdout).not.toContain("hush");
    expect(statSync(plans).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(plans)) expect(statSync(join(plans, name)).mode & 0o777).toBe(0o600);
  });
  test("E8 a plan is not used for other flags or other variables, and its command gets the values of now", async () => {
    const runs = await runInTurn(place, [
      shell("true"),
      shell("true", "--allow-net"),
      shell("true", "--allow-net"),
      shell("true"),
      "export LC_TEST=one",
      shell("echo $LC_TEST"),
      "export LC_TEST=two",
      shell("echo $LC_TEST"),
      "unset LC_TEST",
      shell("echo [$LC_TEST]"),
    ]);
    expect(runs.slice(2).map(({ planned }) => planned)).toEqual([false, false, true, false, false]);
    expect(runs.slice(4).map(({ stdout }) => stdout)).toEqual(["one\n", "two\n", "[]\n"]);
  });
  test("E8 a launcher that was replaced, and a plan that is broken or that others can read, are not used", async () => {
    const runs = await runInTurn(place, [
      shell("true"),
      `for f in ${scratch.state}/launcher-*; do rm -f $f; ln -s /bin/true $f; done`,
      shell("echo fine"),
      `for f in ${plans}/*; do head -c 3000 $f > $f.new; mv $f.new $f; chmod 600 $f; done`,
      shell("echo fine"),
      `chmod 644 ${plans}/*`,
      shell("echo fine"),
      shell("echo fine"),
    ]);
    expect(runs.slice(1).map(({ stdout, code }) => [code, stdout])).toEqual(Array(4).fill([0, "fine\n"]));
    expect(runs.slice(1).map(({ planned }) => planned)).toEqual([true, true, true, false]);
  });
  test("D10 the plans are out of the command's reach", async () => {
    const end = await runShell(`ls ${plans} && echo seen; echo x > ${plans}/planted && echo written`, around);
    expect(end.stdout).toBe("");
    expect(existsSync(join(plans, "planted"))).toBe(false);
  });
}

function describeTheRow(place: TierPlace): void {
  const { scratch, around } = place;
  const rows = (): Record<string, unknown>[] =>
    readFileSync(join(scratch.state, "audit.jsonl"), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  test("A25 the row is closed by the launcher with what cordon itself would write", async () => {
    await threeWays(place, "(echo x > /etc/blocked-by-a-test) 2>/dev/null; exit 3");
    const six = rows().slice(-6);
    expect(six.map(({ row }) => row)).toEqual(["open", "close", "open", "close", "open", "close"]);
    const [openAnew, anew, openAgain, again, , above] = six;
    const own = ["id", "at", "durationMs", "pid", "seq", "prev"];
    const same = (row: Record<string, unknown> = {}) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !own.includes(name)));
    expect(same(again)).toEqual(same(above));
    expect(same(anew)).toEqual(same(above));
    expect(same(openAgain)).toEqual(same(openAnew));
    for (const row of [anew, again]) expect(Number(row?.["durationMs"])).toBeGreaterThan(0);
    expect([openAnew?.["id"], openAgain?.["id"]]).toEqual([anew?.["id"], again?.["id"]]);
    expect(again).toMatchObject({ decided: "caller", policy: expect.stringMatching(/^[0-9a-f]{64}$/) });
    // Rows of cordon and of the launcher are one chain.
    const log = readStoredLog(join(scratch.state, "audit.jsonl"));
    expect(verifyLog(log)).toMatchObject({ ok: true, faults: [], notes: [] });
  });
  test("E8 where the log can't be written nothing runs", async () => {
    const log = join(scratch.state, "audit.jsonl");
    const touch = ["run", "--", "touch", "ran"];
    const [, refused] = await runInTurn(place, [
      touch,
      `rm -f ran ${log}; ln -s ${scratch.work}/elsewhere ${log}`,
      touch,
    ]);
    expect(refused?.code).toBe(121);
    expect(refused?.stderr).toContain("audit.unwritable");
    expect(existsSync(join(scratch.work, "ran"))).toBe(false);
    unlinkSync(log);
    expect((await runShell("touch ran", around)).code).toBe(0);
  });
  test("E4 SIGKILL of the one process that a shell knows ends the whole tree and leaves the row open", async () => {
    const mark = uniqueSleep();
    const started = startCordon(["run", "--", "sh", "-c", `setsid sleep ${mark} & sleep ${mark}`], around);
    await waitFor("both to run", () => processesWith(mark).length >= 3);
    started.kill("SIGKILL");
    await started.finished();
    await waitFor("the tree to be gone", () => processesWith(mark).length === 0);
    expect(rows().at(-1)).toMatchObject({ row: "open" });
  });
}
