// F2: on a machine that gives less, cordon starts with what there is and holds that, or exits 120 with the name of what is
// missing; `cordon doctor` says the same beforehand. The table is printed at the end.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MachineReport } from "@cordon/core";
import { type Ended, runCordon, type Surroundings } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { makeRepository } from "../support/scratch_repository.ts";
import { sharedCordon } from "../support/tiers.ts";
import { HOME_NOT_WRITABLE, MACHINES, type Machine } from "./lesser_machines.ts";

const REFUSED = 120;
const shared = makeScratch();
const binary = sharedCordon(shared.top);
const rows: string[][] = [["machine", "tier", "starts", "write outside", "new git hook", "missing"]];

afterAll(() => {
  removeScratch(shared);
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const text = rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  console.log(`\n${text.join("\n")}\n`);
});

/** A repository as workspace, and a file beside it that no run may change. */
function prepare(scratch: Scratch): { outside: string; hook: string } {
  makeRepository(scratch);
  mkdirSync(join(scratch.top, "outside"));
  const outside = join(scratch.top, "outside", "file");
  writeFileSync(outside, "kept");
  return { outside, hook: join(scratch.work, ".git", "hooks", "pre-commit") };
}

/** The answer goes to a file where stdout may be closed. */
async function examine(around: Surroundings, closed: boolean): Promise<{ end: Ended; report: MachineReport | null }> {
  const end = await runCordon(["doctor", "--json"], around);
  return { end, report: closed ? null : JSON.parse(end.stdout) };
}

const missingOf = (report: MachineReport) =>
  report.properties.filter(({ state }) => state === "missing").map(({ property }) => property as string);

for (const machine of MACHINES) {
  const why = machine.missing();
  const title = `F2 ${machine.title}`;
  if (why !== null) test.skip(`${title}: ${why}`, () => {});
  else
    describe(title, () => {
      const scratch = makeScratch();
      afterAll(() => removeScratch(scratch));
      test(`${title}: what is there is held, what is not is named, and doctor says so`, () =>
        tryMachine(machine, scratch));
    });
}

async function tryMachine(machine: Machine, scratch: Scratch): Promise<void> {
  const { outside, hook } = prepare(scratch);
  const around: Surroundings = { scratch, binary, wrap: (argv) => machine.wrap(argv, { scratch, binary }) };
  const shell = (script: string, flags: string[] = []) =>
    runCordon(["run", ...flags, "--", "sh", "-c", script], around);
  const { end, report } = await examine(around, machine.title.includes("1>&-"));
  const tier = report?.tier ?? machine.tier;
  expect({ tier, said: end.stderr }).toMatchObject({ tier: machine.tier });
  const missing = report === null ? [] : missingOf(report);
  expect(missing).toEqual(expect.arrayContaining([...(machine.lacks ?? [])]));
  expect(end.code).toBe(tier === "none" ? REFUSED : 0);

  const inside = await shell("echo made > inside");
  const escaping = await shell(`echo changed > '${outside}'`);
  const hooking = await shell("echo changed > .git/hooks/pre-commit");
  const named = machine.title.includes("2>&-") ? null : inside.stderr;
  expect(readFileSync(outside, "utf8")).toBe("kept");
  const held = existsSync(hook) ? "made" : "refused";
  rows.push([
    machine.title,
    tier,
    inside.code === 0 ? "yes" : `${inside.code}`,
    inside.code === REFUSED ? "-" : "refused",
    inside.code === REFUSED ? "-" : held,
    missing.filter((property) => property !== "limits").join(" "),
  ]);
  if (tier === "none") {
    expect([inside.code, escaping.code, hooking.code]).toEqual([REFUSED, REFUSED, REFUSED]);
    expect(named).toContain("fs.write_confined");
    return expect(existsSync(join(scratch.work, "inside"))).toBe(false);
  }
  expect({ code: inside.code, said: named ?? "" }).toMatchObject({ code: 0 });
  expect(readFileSync(join(scratch.work, "inside"), "utf8")).toBe("made\n");
  expect(escaping.code).toBeGreaterThan(0);
  const demanded = await shell("true", ["--require=fs.protected"]);
  if (!missing.includes("fs.protected")) {
    expect([demanded.code, hooking.code === 0, held]).toEqual([0, false, "refused"]);
    return;
  }
  expect(demanded.code).toBe(REFUSED);
  expect(demanded.stderr).toContain("fs.protected");
}

test("F2 in a folder that was deleted nothing is run; in one that is there it is", async () => {
  const scratch = makeScratch();
  try {
    const gone = join(scratch.work, "gone");
    const script = `mkdir '${gone}' && cd '${gone}' && rmdir '${gone}' && exec "$@"`;
    const mark = join(scratch.work, "mark");
    const run = (wrap: NonNullable<Surroundings["wrap"]>) =>
      runCordon(["run", "--", "sh", "-c", 'echo x > "$0"', mark], { scratch, binary, wrap });
    const end = await run((argv) => ["sh", "-c", script, "sh", ...argv]);
    // Said by Bun itself, before any code of cordon: with its exit code 1 instead of 121.
    expect([end.code === 0, existsSync(mark)]).toEqual([false, false]);
    expect(end.stderr).toContain("deleted");
    expect((await run((argv) => argv)).code).toBe(0);
    expect(existsSync(mark)).toBe(true);
    rows.push(["deleted current folder", "-", `${end.code}`, "-", "-", ""]);
  } finally {
    removeScratch(scratch);
  }
});

const { missing: homeMissing } = HOME_NOT_WRITABLE;
test.skipIf(homeMissing() !== null)(
  `F2 without a place for its state cordon runs nothing and says which variable names one${homeMissing() === null ? "" : `: ${homeMissing()}`}`,
  async () => {
    const scratch = makeScratch();
    try {
      const stateless = (argv: string[]) => ["env", "--unset=CORDON_STATE_DIR", ...argv];
      const wrap = (argv: string[]) => HOME_NOT_WRITABLE.wrap(stateless(argv), { scratch, binary });
      const end = await runCordon(["run", "--", "touch", "mark"], { scratch, binary, wrap });
      expect([end.code, existsSync(join(scratch.work, "mark"))]).toEqual([121, false]);
      expect(end.stderr).toContain("CORDON_STATE_DIR");
      rows.push(["no place for its state", "-", `${end.code}`, "-", "-", ""]);
      expect((await runCordon(["run", "--", "touch", "mark"], { scratch, binary, wrap: stateless })).code).toBe(0);
    } finally {
      removeScratch(scratch);
    }
  },
);
