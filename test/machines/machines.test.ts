// A15, A18, F2: on every kind of machine cordon starts at what it can and says so, or names what it can't give and runs nothing.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCordon, runShell, type Surroundings } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { type Machine, MACHINES, reasonToSkip } from "./machines.ts";

const table: string[] = [];
afterAll(() => console.log(["", `${"machine".padEnd(40)} tier        not given`, ...table].join("\n")));

for (const machine of MACHINES) {
  const why = reasonToSkip(machine);
  if (why !== undefined) {
    table.push(`${machine.name.padEnd(40)} skipped: ${why}`);
    test.skip(`${machine.name}: ${why}`, () => {});
    continue;
  }
  describe(machine.name, () => describeMachine(machine));
}

type Report = { tier: string; properties: { property: string; state: string; why?: string; help?: string }[] };

function describeMachine(machine: Machine): void {
  const scratch = makeScratch();
  const around: Surroundings = { scratch, wrap: machine.wrap };
  mkdirSync(join(scratch.home, ".ssh"));
  writeFileSync(join(scratch.home, ".ssh/id_ed25519"), "secret-of-the-test");
  writeFileSync(join(scratch.home, ".bashrc"), "kept");
  afterAll(() => removeScratch(scratch));
  test(`A18 doctor names the tier ${machine.tier}, with a reason and a next step for each thing that is missing`, async () => {
    const report = await askDoctor(around);
    const lacking = report.properties.filter(({ state }) => state !== "enforced");
    table.push(
      `${machine.name.padEnd(40)} ${report.tier.padEnd(11)} ${lacking.map(({ property }) => property).join(" ")}`,
    );
    expect(report.tier).toBe(machine.tier);
    for (const { why, help } of lacking) expect([why, help]).toEqual([expect.any(String), expect.any(String)]);
    const names = lacking.map(({ property }) => property);
    expect(names).toEqual(expect.arrayContaining([...(machine.lacks ?? [])]));
  });
  test("F2 each property is enforced or refused by name, just as doctor says", async () => {
    const { properties } = await askDoctor(around);
    for (const { property, state } of properties) {
      // Nothing holds a limit that nobody set.
      const set = property === "limits" ? ["--memory=4G", "--pids=4000", "--cpu=100%"] : [];
      const end = await runCordon(["run", ...set, "--require", property, "--", "true"], around);
      const kept = state === "enforced" && machine.tier !== "none";
      expect({ property, code: end.code, stderr: kept ? "" : end.stderr }).toEqual({
        property,
        code: kept ? 0 : 120,
        stderr: kept ? "" : expect.stringContaining(machine.tier === "none" ? "fs.write_confined" : property),
      });
    }
  });
  test("A15 what is closed is closed, and what is open works; or nothing runs", () => holds(machine, scratch, around));
}

async function askDoctor(around: Surroundings): Promise<Report> {
  return JSON.parse((await runCordon(["doctor", "--json"], around)).stdout);
}

async function holds(machine: Machine, scratch: Scratch, around: Surroundings): Promise<void> {
  const made = await runShell('echo made > here && echo made > "$TMPDIR/there" && cat here', around);
  if (machine.tier === "none") {
    expect(made).toMatchObject({ code: 120, stdout: "", stderr: expect.stringContaining("fs.write_confined") });
    return;
  }
  expect(made).toMatchObject({ code: 0, stdout: "made\n" });
  const refused = await runShell("echo x > ~/.bashrc", around);
  expect(refused.code).not.toBe(0);
  expect(readFileSync(join(scratch.home, ".bashrc"), "utf8")).toBe("kept");
  const read = await runShell("cat ~/.ssh/id_ed25519", around);
  expect(read.code).not.toBe(0);
  expect(read.stdout + read.stderr).not.toContain("secret-of-the-test");
}
