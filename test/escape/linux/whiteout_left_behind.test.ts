import { expect } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 a rename that leaves a whiteout behind is judged like any other",
  ["python3"],
  async ({ scratch, around }) => {
    mkdirSync(join(scratch.work, "a/closed"), { recursive: true });
    writeFileSync(join(scratch.work, "a/closed/f"), "kept\n");
    const script = `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def move(one, other, flags):
    return "DONE" if libc.syscall(${callNumber("renameat2")}, -100, one, -100, other, flags) == 0 else "refused"
open("safe", "w").write("evil")
for flags in (4, 5): print(move(b"safe", b".envrc", flags), move(b"a/closed/f", b"taken", flags), move(b"safe", b"a/closed/f", flags), move(b"a/closed", b"z", flags))
open("own", "w").write("own"); print(move(b"own", b"moved", 0), open("moved").read())
`;
    const end = await runCordon(
      ["run", `--deny-write=${join(scratch.work, "a/closed")}`, "--", "python3", "-c", script],
      around,
    );
    expect(existsSync(join(scratch.work, ".envrc"))).toBe(false);
    expect(readFileSync(join(scratch.work, "a/closed/f"), "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: `${"refused refused refused refused\n".repeat(2)}DONE own\n` });
  },
);
