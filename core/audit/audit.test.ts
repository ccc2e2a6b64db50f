import { expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { capOutput } from "../output/cap_output.ts";
import { refuse } from "../contract/refuse.ts";
import { openAppendLog } from "../store/append_log.ts";
import { requestOf } from "../testing/small_core.ts";
import { type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { createAuditLog } from "./audit.ts";

const clock = {
  now: () => 1_700_000_000_000,
  monotonic: () => performance.now(),
  newId: () => crypto.randomUUID(),
  pid: 42,
};
const rowsOf = (folder: TempFolder): Record<string, unknown>[] =>
  readFileSync(folder.at("audit.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
const logIn = (folder: TempFolder) => createAuditLog(() => openAppendLog(folder.at("audit.jsonl")), clock);
const refusal = capOutput(
  refuse(
    { code: "policy.denied", message: "no", at: "authorize" },
    { verdict: "deny", reason: "no", by: "mode", trace: [] },
  ),
);

test("E1 a row is opened before and closed after, each one line of JSON with the same id", () => {
  using folder = tempFolder();
  const log = logIn(folder);
  const row = log.open(requestOf("bash", { command: "ls" }, { id: "c7", door: "serve" }));
  expect(rowsOf(folder)).toEqual([
    {
      v: 2,
      seq: 1,
      prev: "0".repeat(64),
      row: "open",
      id: row.id,
      at: 1_700_000_000_000,
      door: "serve",
      tool: "bash",
      call: "c7",
      input: expect.stringMatching(/^[0-9a-f]{64}$/),
      pid: 42,
    },
  ]);
  log.close(row, requestOf("bash", {}), refusal);
  expect(rowsOf(folder)[1]).toEqual({
    v: 2,
    seq: 2,
    prev: expect.stringMatching(/^[0-9a-f]{64}$/),
    row: "close",
    id: row.id,
    at: 1_700_000_000_000,
    tool: "bash",
    durationMs: expect.any(Number),
    ok: false,
    code: "policy.denied",
    stage: "authorize",
    verdict: "deny",
    by: "mode",
    decided: "mode",
    denials: 0,
  });
});

test("E4 neither input nor output enters the log, and equal inputs have equal digests", () => {
  using folder = tempFolder();
  const log = logIn(folder);
  const input = { command: "deploy --token=hunter2" };
  log.close(
    log.open(requestOf("bash", input)),
    requestOf("bash", input),
    capOutput(refuse({ code: "policy.denied", message: "hunter2 said no", at: "authorize", details: input })),
  );
  log.open(requestOf("bash", structuredClone(input)));
  log.open(requestOf("bash", { command: "deploy --token=hunter3" }));
  expect(readFileSync(folder.at("audit.jsonl"), "utf8")).not.toContain("hunter2");
  const [first, , same, other] = rowsOf(folder).map(({ input: digest }) => digest);
  expect(first).toBe(same);
  expect(first).not.toBe(other);
});

test("E4 a tool's name and a call's id are bounded, and input too deep to be written is no crash", () => {
  using folder = tempFolder();
  const deep: unknown = JSON.parse("[".repeat(50_000) + "]".repeat(50_000));
  logIn(folder).open(requestOf("t".repeat(100_000), deep, { id: "i".repeat(100_000) }));
  expect(statSync(folder.at("audit.jsonl")).size).toBeLessThan(1000);
  expect(rowsOf(folder)[0]).toMatchObject({ tool: "(no name of a tool)", input: "nested too deep" });
});

test("E1 nothing is written before the first call", () => {
  let opened = 0;
  createAuditLog(() => {
    opened++;
    throw new Error("not wanted");
  }, clock);
  expect(opened).toBe(0);
});

test("E1 a process that is killed in the middle of a call leaves its row open", async () => {
  using folder = tempFolder();
  const program = `
    import { createAuditLog } from ${JSON.stringify(join(import.meta.dir, "audit.ts"))};
    import { openAppendLog } from ${JSON.stringify(join(import.meta.dir, "../store/append_log.ts"))};
    const log = createAuditLog(() => openAppendLog(${JSON.stringify(folder.at("audit.jsonl"))}), { now: Date.now, monotonic: () => 0, newId: () => "the-row", pid: process.pid });
    log.open({ id: "c1", door: "call", tool: "bash", input: {}, signal: new AbortController().signal });
    console.log("opened");
    setInterval(() => {}, 1000);`;
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit", timeout: 20_000 });
  const { value } = await child.stdout.getReader().read();
  expect(Buffer.from(value ?? []).toString()).toBe("opened\n");
  child.kill("SIGKILL");
  await child.exited;
  expect(rowsOf(folder).map(({ row, id }) => [row, id])).toEqual([["open", "the-row"]]);
});
