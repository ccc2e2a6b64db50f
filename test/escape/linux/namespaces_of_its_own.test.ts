import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 no namespace is made or joined, so no mount of its own lifts what is closed",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
for flag in (0x10000000, 0x00020000, 0x40000000, 0x20000000, 0x08000000, 0x04000000, 0x02000000, 0x10000000 | 0x00020000):
    if call(${callNumber("unshare")}, flag) == 0: print("DONE unshare", hex(flag))
    pid = libc.syscall(${process.arch === "arm64" ? 220 : 56}, flag | 17, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    if pid > 0: print("DONE clone", hex(flag))
    given = (ctypes.c_uint64 * 11)(flag, 0, 0, 0, 17)
    pid = libc.syscall(${callNumber("clone3")}, given, 88)
    if pid == 0: os._exit(0)
    if pid > 0: print("DONE clone3", hex(flag))
for pid in ("self", "1", os.getppid()):
    for name in ("user", "mnt", "net", "pid"):
        try: fd = os.open(f"/proc/{pid}/ns/{name}", os.O_RDONLY)
        except OSError: continue
        if call(${callNumber("setns")}, fd, 0) == 0: print("DONE setns", pid, name)
for number, arguments in ((${callNumber("mount")}, (b"/", b".", 0, 4096, 0)), (${callNumber("mount")}, (0, b"/", 0, 4128, 0)), (${callNumber("open_tree")}, (-100, b".", 1)), (${callNumber("fsopen")}, (b"tmpfs", 0)), (${callNumber("chroot")}, (b".",))):
    if call(number, *arguments) >= 0: print("DONE", number)
try: open("${kept}", "w"); print("OPENED")
except OSError: print("closed")
if os.fork() == 0: open("own", "w").write("own"); os._exit(0)
os.wait(); print(open("own").read())
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end.code).toBe(0);
    expect(end.stdout).not.toMatch(/DONE|OPENED/);
    expect(end.stdout.endsWith("closed\nown\n")).toBe(true);
  },
);
