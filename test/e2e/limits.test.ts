// A18, E9: limits hold, are named in one line with their flag, and leave the exit code as it is.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeEachCell, type TierPlace } from "../support/each_tier.ts";
import { missingPrograms, runCordon, runShell } from "../support/run_cordon.ts";
import { findTraces, newTraces } from "../support/traces.ts";

type Holders = { memory: string; processes: string; cpu: string };

describeEachCell((place) => {
  describeGroups(place);
  describeOutput(place);
  describeOthers(place);
});

async function holdersOf({ around }: TierPlace): Promise<Holders> {
  const { stdout } = await runCordon(["doctor", "--json"], around);
  return JSON.parse(stdout).facts.limits;
}

function describeGroups(place: TierPlace): void {
  const { around, scratch } = place;
  test("A18 memory: a process that takes more is ended, the code is 137 and the line names the flag", async () => {
    const before = findTraces();
    // ulimit is the second bound, should the first not hold.
    const script = "ulimit -v 4000000; exec tail -n 1 /dev/zero";
    const end = await runShell(script, around, ["--memory", "100M", "--events", join(scratch.top, "events")]);
    if ((await holdersOf(place)).memory.startsWith("cgroup")) {
      expect(end.code).toBe(137);
      expect(end.stderr).toContain("cordon: the memory limit of 100 MB was reached");
      expect(end.stderr).toContain("raise it with --memory");
      const events = readFileSync(join(scratch.top, "events"), "utf8").trim().split("\n");
      expect(events.map((line) => JSON.parse(line))).toContainEqual(
        expect.objectContaining({ op: "limit", rule: "limits", grant: "--memory" }),
      );
    } else expect(end.code).not.toBe(0);
    expect((await runShell("echo fits", around, ["--memory", "100M"])).stdout).toBe("fits\n");
    expect(newTraces(before)).toEqual({ temporaries: [], mounts: [], groups: [] });
  });
  test("A18 processes: one too many is not started, and nothing of it stays", async () => {
    const script = "for n in $(seq 100); do sleep 5 & done; wait";
    const end = await runShell(script, around, ["--pids", "20"]);
    const holder = (await holdersOf(place)).processes;
    if (holder === "none") expect(end).toMatchObject({ code: 120, stderr: expect.stringContaining("limits") });
    else expect(end.code).toBe(2);
    if (holder.startsWith("cgroup")) {
      expect(end.stderr).toContain("cordon: the limit of 20 processes was reached");
      expect(end.stderr).toContain("raise it with --pids");
    }
  });
  test("A18 cpu: held by a control group, or refused with 120 and why", async () => {
    const end = await runShell("echo ran", around, ["--cpu", "50%"]);
    const held = (await holdersOf(place)).cpu !== "none";
    expect(end).toMatchObject(held ? { code: 0, stdout: "ran\n" } : { code: 120, stdout: "" });
    if (!held) expect(end.stderr).toContain("limits");
  });
  test("A18 a file that grows too large stops growing, and the line names the flag", async () => {
    const end = await runShell("head -c 3000000 /dev/zero > large; exit $?", around, ["--file-size", "1M"]);
    expect(end.code).toBe(153);
    expect(end.stderr).toContain("cordon: the file size limit of 1 MB was reached; raise it with --file-size");
    expect((await runShell("wc -c < large; rm large", around)).stdout).toBe("1048576\n");
  });
}

function describeOutput({ around }: TierPlace): void {
  test("A18 output: both streams count together, what is beyond is dropped and the command ended", async () => {
    const end = await runShell("printf 12345; printf 67890 >&2; exec yes", around, ["--output", "10K"]);
    expect(end.code).toBe(143);
    // Which of the two streams is read first is nobody's promise.
    const onStderr = end.stderr.includes("67890") ? 5 : 0;
    expect(end.bytes.length + onStderr).toBe(10 * 1024);
    expect(end.stderr).toContain("cordon: the output limit of 10 KB was reached");
    expect(end.stderr).toContain("raise it with --output");
  });
  test("A18 output: a command below the limit is as without it", async () => {
    const end = await runShell("printf 12345; printf 67890 >&2; exit 3", around, ["--output", "10K"]);
    expect(end).toMatchObject({ code: 3, stdout: "12345", stderr: "67890" });
  });
  test("A18 output: a reader that leaves early ends the command as without a limit", async () => {
    const wrap = (argv: string[]) => {
      const inner = ["sh", "-c", '"$@" | head -n 1', "sh", ...argv];
      return around.wrap ? around.wrap(inner) : inner;
    };
    expect((await runShell("exec yes", { ...around, wrap }, ["--output", "1G"])).stdout).toBe("y\n");
  });
}

const python = missingPrograms(["python3"]).length === 0;

function describeOthers({ around }: TierPlace): void {
  test("A18 no command gets out of its limits by writing to control groups, even where it may write everywhere", async () => {
    const script = `find /sys/fs/cgroup -name cgroup.procs 2>/dev/null | while read f; do (echo 0 > $f) 2>/dev/null && echo left $f; done
      find /sys/fs/cgroup -name 'pids.max' -o -name 'memory.limit_in_bytes' -o -name memory.max 2>/dev/null | while read f; do
        (echo 999999999 > $f) 2>/dev/null && echo changed $f; done
      echo end`;
    for (const flags of [[], ["--allow-write"]]) {
      const end = await runShell(script, around, [...flags, "--memory", "1G"]);
      expect(end.stdout).toBe("end\n");
    }
  });
  test.skipIf(!python)("A18 a program that ignores the signal gets EFBIG and goes on", async () => {
    const script =
      "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\ntry:\n  open('big','wb').write(b'x'*3000000)\nexcept OSError as e: print(e.errno)";
    const end = await runCordon(["run", "--file-size", "1M", "--", "python3", "-c", script], around);
    expect(end).toMatchObject({ code: 0, stdout: "27\n" });
  });
}
