import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { headPathOf, openAppendLog, readStoredLog } from "../store/append_log.ts";
import { type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { verifyLog } from "./verify.ts";

const NAME = "audit.jsonl";

/** A log of so many rows, each call opened and closed. */
function write(folder: TempFolder, calls: number, rotateBytes?: number): void {
  const log = openAppendLog(folder.at(NAME), rotateBytes);
  for (let n = 0; n < calls; n++) {
    log.append({ row: "open", id: `c${n}` });
    log.append({ row: "close", id: `c${n}`, ok: true });
  }
}

const verify = (folder: TempFolder) => verifyLog(readStoredLog(folder.at(NAME)));
const linesOf = (folder: TempFolder, name = NAME) => readFileSync(folder.at(name), "utf8").trimEnd().split("\n");
const save = (folder: TempFolder, lines: string[]) => writeFileSync(folder.at(NAME), `${lines.join("\n")}\n`);

describe("what somebody did to the log", () => {
  const DONE: Record<string, { change: (lines: string[]) => string[]; kinds: string[] }> = {
    nothing: { change: (lines) => lines, kinds: [] },
    "a row in the middle was edited": {
      change: (lines) => lines.map((line, at) => (at === 3 ? line.replace("true", "false") : line)),
      kinds: ["edited"],
    },
    "the last row was edited": {
      change: (lines) => lines.map((line, at) => (at === 7 ? line.replace("true", "false") : line)),
      kinds: ["edited"],
    },
    "a row was taken out": { change: (lines) => lines.toSpliced(2, 1), kinds: ["missing"] },
    "the first row was taken out": { change: (lines) => lines.slice(1), kinds: ["missing"] },
    "two rows were exchanged": {
      change: ([a = "", b = "", c = "", ...rest]) => [a, c, b, ...rest],
      kinds: ["missing", "order", "missing"],
    },
    "a row was put in twice": {
      change: ([a = "", b = "", ...rest]) => [a, b, b, ...rest],
      kinds: ["order"],
    },
    "the end was cut off": { change: (lines) => lines.slice(0, 5), kinds: ["truncated"] },
    "all was cut off": { change: () => [], kinds: ["truncated"] },
    "a line that is no row was put in": {
      change: ([a = "", ...rest]) => [a, "hello", ...rest],
      kinds: ["foreign", "edited"],
    },
  };
  for (const [what, { change, kinds }] of Object.entries(DONE)) {
    test(`E10 ${what}: ${kinds.join(", ") || "no fault"}`, () => {
      using folder = tempFolder();
      write(folder, 4);
      const lines = change(linesOf(folder));
      writeFileSync(folder.at(NAME), lines.length === 0 ? "" : `${lines.join("\n")}\n`);
      const found = verify(folder);
      expect(found.faults.map(({ kind }) => kind)).toEqual(kinds as (typeof found.faults)[number]["kind"][]);
      expect(found.ok).toBe(kinds.length === 0);
    });
  }

  test("E10 rows that were cut off stay missing when the log goes on behind them", () => {
    using folder = tempFolder();
    write(folder, 4);
    save(folder, linesOf(folder).slice(0, 5));
    write(folder, 1);
    expect(verify(folder).faults).toMatchObject([{ kind: "missing", seq: 9 }]);
  });

  test("E10 a lost head is a fault, and so is a log that goes on without it; an intact head is none", () => {
    using folder = tempFolder();
    write(folder, 2);
    rmSync(headPathOf(folder.at(NAME)));
    expect(verify(folder).faults).toMatchObject([{ kind: "head_lost" }]);
    write(folder, 1);
    expect(verify(folder).faults).toMatchObject([{ kind: "head_lost", seq: 5 }]);
  });

  test("E10 a log that was written anew whole fits itself, and not what was noted of it elsewhere", () => {
    using folder = tempFolder();
    write(folder, 2);
    const noted = verify(folder).last;
    if (!noted) throw new Error("no rows");
    write(folder, 1);
    expect(verifyLog(readStoredLog(folder.at(NAME)), noted).ok).toBe(true);
    for (const name of readdirSync(folder.root)) rmSync(folder.at(name));
    const log = openAppendLog(folder.at(NAME));
    for (let n = 0; n < 6; n++) log.append({ row: "open", id: "forged" });
    expect(verify(folder).ok).toBe(true);
    expect(verifyLog(readStoredLog(folder.at(NAME)), noted).faults).toMatchObject([{ kind: "anchor" }]);
  });
});

describe("what a crash leaves", () => {
  test("E10 a line that was cut short is named as torn and breaks nothing, also with rows behind it", () => {
    using folder = tempFolder();
    write(folder, 2);
    const whole = readFileSync(folder.at(NAME), "utf8");
    writeFileSync(folder.at(NAME), `${whole}{"v":2,"seq":5,"pr`);
    expect(verify(folder)).toMatchObject({ ok: true, notes: [expect.stringContaining("torn")] });
    write(folder, 1);
    expect(verify(folder)).toMatchObject({ ok: true, notes: [expect.stringContaining("torn")], last: { seq: 6 } });
  });

  test("E10 a row whose head was not written any more is taken up by the next", () => {
    using folder = tempFolder();
    write(folder, 2);
    const head = readFileSync(headPathOf(folder.at(NAME)));
    write(folder, 1);
    writeFileSync(headPathOf(folder.at(NAME)), head);
    expect(verify(folder).ok).toBe(true);
    write(folder, 1);
    expect(verify(folder)).toMatchObject({ ok: true, last: { seq: 8 } });
  });

  test("E10 calls without a closing row are counted", () => {
    using folder = tempFolder();
    write(folder, 1);
    openAppendLog(folder.at(NAME)).append({ row: "open", id: "killed" });
    expect(verify(folder)).toMatchObject({ ok: true, notes: [expect.stringContaining("1 calls have no closing row")] });
  });
});

test("E10 a log that is full is put aside, and the chain goes on across the files", () => {
  using folder = tempFolder();
  write(folder, 20, 2000);
  const names = readdirSync(folder.root).filter((name) => name.endsWith(".jsonl"));
  expect(names.length).toBeGreaterThan(2);
  expect(verify(folder)).toMatchObject({ ok: true, rows: 40, files: names.length, last: { seq: 40 } });
  const [oldest = "", middle = ""] = names.filter((name) => name !== NAME).sort();
  rmSync(folder.at(middle));
  expect(verify(folder).faults).toMatchObject([{ kind: "missing" }]);
  rmSync(folder.at(oldest));
  expect(verify(folder).ok).toBe(false);
});

test("E10 rows of the older version stand before the chain, which begins behind them", () => {
  using folder = tempFolder();
  writeFileSync(folder.at(NAME), '{"v":1,"row":"open","id":"a"}\n{"v":1,"row":"close","id":"a"}\n');
  write(folder, 1);
  expect(verify(folder)).toMatchObject({ ok: true, rows: 2, notes: [expect.stringContaining("older version")] });
  const lines = linesOf(folder);
  save(folder, lines.toSpliced(1, 1));
  expect(verify(folder).ok).toBe(false);
});
