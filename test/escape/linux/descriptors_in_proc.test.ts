import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 no descriptor of cordon or its launcher can be borrowed through /proc/*/fd",
  ["python3"],
  async ({ scratch, python }) => {
    const own = join(scratch.home, "own.txt");
    writeFileSync(own, "mine\n");
    const end = await python(`
import glob
for path in glob.glob("/proc/[0-9]*/fd/*") + glob.glob("/proc/[0-9]*/task/*/fd/*"):
    try: target = os.readlink(path)
    except OSError: continue
    pid = path.split("/")[2]
    if int(pid) == os.getpid(): continue
    # What leads to a folder would be a way out; what leads to the audit log or the report channel a way to lie.
    print("seen", target)
    try: print("opened", os.listdir(path))
    except OSError: pass
`);
    expect(end.code).toBe(0);
    expect(end.stdout).not.toContain("opened");
    expect(end.stdout).not.toMatch(/audit\.jsonl|socket:|launcher/);
    expect(readFileSync(own, "utf8")).toBe("mine\n");
    const twin = await python(`
fd = os.open("made", os.O_CREAT | os.O_RDWR); os.write(fd, b"x")
print(open(f"/proc/self/fd/{fd}").read())`);
    expect(twin).toMatchObject({ code: 0, stdout: "x\n" });
  },
);
