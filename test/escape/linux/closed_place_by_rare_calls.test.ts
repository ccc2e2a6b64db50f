import { expect } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 a closed file is not changed by any of the calls that change files",
  ["python3"],
  async ({ scratch, around }) => {
    mkdirSync(join(scratch.work, "closed"));
    writeFileSync(join(scratch.work, "closed/f"), "kept\n", { mode: 0o644 });
    const before = statSync(join(scratch.work, "closed/f"));
    const script = `
import os, stat
import ctypes; libc = ctypes.CDLL(None, use_errno=True)
open("own", "w").write("own")
fd = os.open("closed/f", os.O_RDONLY); folder = os.open("closed", os.O_RDONLY)
tries = {"open": lambda: os.open("closed/f", os.O_RDWR), "truncate": lambda: os.truncate("closed/f", 0), "creat": lambda: os.open("closed/n", os.O_CREAT | os.O_WRONLY), "unlink": lambda: os.unlink("closed/f"),
  "rmdir": lambda: os.rmdir("closed"), "rename": lambda: os.rename("closed/f", "g"), "over": lambda: os.rename("own", "closed/f"), "link": lambda: os.link("own", "closed/l"), "out": lambda: os.link("closed/f", "o"),
  "symlink": lambda: os.symlink("own", "closed/s"), "mknod": lambda: os.mknod("closed/p", stat.S_IFIFO | 0o600), "mkdir": lambda: os.mkdir("closed/d"), "chmod": lambda: os.chmod("closed/f", 0o777), "fchmod": lambda: os.fchmod(fd, 0o777),
  "utime": lambda: os.utime("closed/f", (1, 1)), "futime": lambda: os.utime(fd, (1, 1)), "setxattr": lambda: os.setxattr("closed/f", "user.x", b"x"), "fsetxattr": lambda: os.setxattr(fd, "user.x", b"x"),
  "chmod folder": lambda: os.chmod("closed", 0o777), "at": lambda: os.open("f", os.O_WRONLY, dir_fd=folder), "unlinkat": lambda: os.unlink("f", dir_fd=folder), "proc chmod": lambda: os.chmod(f"/proc/self/fd/{fd}", 0o777), "chown": lambda: os.chown("closed/f", -1, -1) if False else os.chmod("closed/f", 0o600)}
for name, action in tries.items():
    try: action(); print("DONE", name)
    except OSError as error: print("refused")
if libc.syscall(${callNumber("fchmodat2")}, -100, b"closed/f", 0o777, 0) == 0: print("DONE fchmodat2")
if libc.syscall(${callNumber("renameat2")}, -100, b"own", -100, b"closed/f", 2) == 0: print("DONE exchange")
os.chmod("own", 0o700); os.utime("own", (1, 1)); os.rename("own", "mine"); print("own")
`;
    const end = await runCordon(
      ["run", `--deny-write=${join(scratch.work, "closed")}`, "--", "python3", "-c", script],
      around,
    );
    const after = statSync(join(scratch.work, "closed/f"));
    expect(end.stdout).not.toContain("DONE");
    expect(end.stdout.endsWith("own\n")).toBe(true);
    expect(readFileSync(join(scratch.work, "closed/f"), "utf8")).toBe("kept\n");
    expect([after.mode, after.mtimeMs]).toEqual([before.mode, before.mtimeMs]);
  },
);
