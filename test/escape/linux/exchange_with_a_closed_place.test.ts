import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt("E5 renameat2 exchanges neither a closed place nor what holds it", ["python3"], async ({ scratch, around }) => {
  mkdirSync(join(scratch.work, "a/closed"), { recursive: true });
  writeFileSync(join(scratch.work, "a/closed/f"), "kept\n");
  const script = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
os.makedirs("evil/closed"); open("evil/closed/f", "w").write("evil"); os.makedirs("closed2"); open("closed2/f", "w").write("evil")
exchange = lambda a, b, flags=2: print("DONE" if libc.syscall(${callNumber("renameat2")}, -100, a, -100, b, flags) == 0 else "refused")
exchange(b"a", b"evil"); exchange(b"evil", b"a"); exchange(b"a/closed", b"closed2"); exchange(b"closed2/f", b"a/closed/f"); exchange(b"a/closed/f", b"closed2/f"); exchange(b"a", b"elsewhere", 0); exchange(b"a", b"white", 4)
exchange(b"evil", b"closed2")
`;
  const end = await runCordon(
    ["run", `--deny-write=${join(scratch.work, "a/closed")}`, "--", "python3", "-c", script],
    around,
  );
  expect(readFileSync(join(scratch.work, "a/closed/f"), "utf8")).toBe("kept\n");
  expect(end).toMatchObject({ code: 0, stdout: `${"refused\n".repeat(7)}DONE\n` });
});
