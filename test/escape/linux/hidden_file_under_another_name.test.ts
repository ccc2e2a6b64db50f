import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 a hidden file inside the workspace is not read by any of its aliases",
  ["python3"],
  async ({ scratch, around }) => {
    mkdirSync(join(scratch.work, "a/keys"), { recursive: true });
    writeFileSync(join(scratch.work, "a/keys/k"), "the secret\n");
    writeFileSync(join(scratch.work, "a/open"), "open\n");
    const script = `
import os, ctypes
libc = ctypes.CDLL(None, use_errno=True)
def read(path):
    try: print(open(path).read())
    except OSError: print("closed")
here = os.getcwd(); os.symlink("a/keys", "l"); os.symlink("a/keys/k", "m")
for action in (lambda: os.link("a/keys/k", "h"), lambda: os.rename("a/keys/k", "n"), lambda: os.rename("a/keys", "o"), lambda: os.rename("a", "p")):
    try: action()
    except OSError: pass
for path in ("a/keys/k", "l/k", "m", "h", "n", "o/k", "p/keys/k", f"/proc/self/root{here}/a/keys/k", "/proc/self/cwd/a/keys/k", f"/proc/{os.getppid()}/cwd/a/keys/k", f"/proc/1/root{here}/a/keys/k"): read(path)
try:
    fd = os.open("a/keys/k", os.O_PATH); read(f"/proc/self/fd/{fd}")
except OSError: print("closed")
try: os.execv("/bin/cat", ["cat", "a/keys/k"]) if os.fork() == 0 else os.wait()
except OSError: pass
read("a/open" if os.path.exists("a/open") else "p/open")
`;
    const end = await runCordon(
      ["run", `--deny-read=${join(scratch.work, "a/keys")}`, "--", "python3", "-c", script],
      around,
    );
    expect(end.stdout).not.toContain("the secret");
    expect(end.stdout).toContain("open\n");
  },
);
