import { expect, test } from "bun:test";
import fc from "fast-check";
import type { LauncherReport } from "../../contract/enforced.ts";
import { reportLines } from "./report_lines.ts";

async function* pieces(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const end of [...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.subarray(at, end);
    at = end;
  }
}

async function read(bytes: Uint8Array, cuts: readonly number[] = []): Promise<LauncherReport[]> {
  const found: LauncherReport[] = [];
  for await (const report of reportLines(pieces(bytes, cuts))) found.push(report);
  return found;
}

const report: fc.Arbitrary<LauncherReport> = fc.oneof(
  fc.record({
    t: fc.constant("exit" as const),
    code: fc.option(fc.nat({ max: 255 })),
    signal: fc.option(fc.constantFrom("SIGTERM", "SIGKILL")),
  }),
  fc.record({
    t: fc.constant("denial" as const),
    op: fc.constant("write" as const),
    path: fc.string({ unit: "grapheme" }),
    syscall: fc.constant("openat"),
    pid: fc.nat(),
    rule: fc.constant("fs.write_confined" as const),
  }),
);

test("any reports in any pieces are read back in order", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(report, { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 30 }),
      async (reports, cuts) => {
        const bytes = Buffer.from(reports.map((one) => `${JSON.stringify(one)}\n`).join(""));
        expect(await read(bytes, cuts)).toEqual(reports);
      },
    ),
  );
});

test("a line that is no JSON, no report, no UTF-8 or too long is an error; a report is not", async () => {
  for (const line of ["{", "null", "5", '"exit"', "[]", "{}", '{"t":"other"}', '{"t":["exit","x"]}', ""]) {
    await expect(read(Buffer.from(`${line}\n`))).rejects.toThrow();
  }
  await expect(read(Uint8Array.of(0xff, 0x0a))).rejects.toThrow();
  await expect(read(Buffer.alloc(4 * 1024 * 1024 + 1, "x"))).rejects.toThrow("bytes");
  expect(await read(Buffer.from('{"t":"exit","code":0,"signal":null}\n'))).toEqual([
    { t: "exit", code: 0, signal: null },
  ]);
});

test("half a line at the end, from a launcher that was killed, is no report", async () => {
  expect(await read(Buffer.from('{"t":"exit","code":0,"signal":null}\n{"t":"ex'))).toEqual([
    { t: "exit", code: 0, signal: null },
  ]);
});

test("a channel that is reset after the last report ends it; any other failure is one", async () => {
  const failing = async function* (code: string) {
    yield Buffer.from('{"t":"exit","code":0,"signal":null}\n');
    throw Object.assign(new Error("recv"), { code });
  };
  expect(await Array.fromAsync(reportLines(failing("ECONNRESET")))).toEqual([{ t: "exit", code: 0, signal: null }]);
  expect(Array.fromAsync(reportLines(failing("EIO")))).rejects.toThrow("recv");
});
