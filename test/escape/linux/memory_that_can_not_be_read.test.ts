import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a process that says it is not to be looked at is confined like any, and works",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
libc.prctl(4, 0, 0, 0, 0)
for child in range(2):
    try: os.open("${kept}", os.O_WRONLY | os.O_TRUNC); print("OPENED")
    except OSError: print("closed")
    open("own", "w").write("own"); os.rename("own", "moved"); print(open("moved").read())
    if child == 0 and os.fork() != 0: os.wait(); break
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end.code).toBe(0);
    expect(end.stdout).not.toContain("OPENED");
    expect(end.stdout).toContain("closed\nown\n");
  },
);
