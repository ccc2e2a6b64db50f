import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 ten thousand opened files use up nothing: the last is answered like the first",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
for number in range(10_000): os.close(os.open("own", os.O_WRONLY | os.O_CREAT, 0o600))
held = []
try:
    while len(held) < 900: held.append(os.open(f"held", os.O_WRONLY | os.O_CREAT, 0o600))
except OSError as error: print(errno.errorcode[error.errno])
print(len(held) > 200)
for fd in held: os.close(fd)
try: open("${kept}", "w"); print("OPENED")
except OSError: print("closed")
open("own", "w").write("own"); print(open("own").read())
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end.code).toBe(0);
    expect(end.stdout).toContain("True\nclosed\nown\n");
  },
);
