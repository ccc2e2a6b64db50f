import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../testing/temp_folder.ts";
import { verifyLog } from "../audit/verify.ts";
import { headPathOf, openAppendLog, readStoredLog } from "./append_log.ts";
import { sha256 } from "./chain.ts";

const unwritable = (open: () => unknown) => {
  expect(open).toThrow(expect.objectContaining({ code: "audit.unwritable" }));
};

test("E10 the log has mode 0600 and only grows", () => {
  using folder = tempFolder();
  const path = folder.at("log.jsonl");
  for (const n of [1, 2]) {
    const log = openAppendLog(path);
    log.append({ n });
    log.close();
  }
  expect(statSync(path).mode & 0o7777).toBe(0o600);
  const [first, second] = readFileSync(path, "utf8").split("\n");
  expect(first).toBe(`{"v":2,"seq":1,"prev":"${"0".repeat(64)}","n":1}`);
  expect(second).toBe(`{"v":2,"seq":2,"prev":"${sha256(first ?? "")}","n":2}`);
  expect(statSync(headPathOf(path)).mode & 0o7777).toBe(0o600);
});

test("E10 a link, a folder, a device or a missing folder is no log; a plain file is", () => {
  using folder = tempFolder({ "real.jsonl": "" });
  symlinkSync(folder.at("real.jsonl"), folder.at("link.jsonl"));
  mkdirSync(folder.at("folder.jsonl"));
  for (const path of [
    folder.at("link.jsonl"),
    folder.at("folder.jsonl"),
    folder.at("gone/log.jsonl"),
    "/dev/null",
    "/dev/full",
  ])
    unwritable(() => openAppendLog(path));
  openAppendLog(folder.at("real.jsonl")).close();
});

test("E10 a FIFO in the log's place is refused at once and not waited for", () => {
  using folder = tempFolder();
  Bun.spawnSync(["mkfifo", folder.at("fifo")]);
  unwritable(() => openAppendLog(folder.at("fifo")));
});

test("E10 appending to a log that was closed throws the same error", () => {
  using folder = tempFolder();
  const log = openAppendLog(folder.at("log.jsonl"));
  log.close();
  unwritable(() => log.append({}));
});

test("E10 two processes that write at once lose no row and tear none", async () => {
  using folder = tempFolder();
  const path = folder.at("log.jsonl");
  const program = (name: string) => `
    import { openAppendLog } from ${JSON.stringify(join(import.meta.dir, "append_log.ts"))};
    const log = openAppendLog(${JSON.stringify(path)});
    for (let n = 0; n < 500; n++) log.append({ name: "${name}", n, filling: "x".repeat(n * 7) });`;
  const children = ["a", "b"].map((name) =>
    Bun.spawn([process.execPath, "-e", program(name)], { stderr: "inherit", timeout: 20_000 }),
  );
  expect(await Promise.all(children.map(({ exited }) => exited))).toEqual([0, 0]);
  const rows = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line): { name: string; n: number } => JSON.parse(line));
  for (const name of ["a", "b"]) {
    expect(rows.filter((row) => row.name === name).map(({ n }) => n)).toEqual(Array.from({ length: 500 }, (_, n) => n));
  }
  expect(verifyLog(readStoredLog(path))).toMatchObject({ ok: true, rows: 1000, last: { seq: 1000 } });
});
