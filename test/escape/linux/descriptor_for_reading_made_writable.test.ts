import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt("E5 no call makes a descriptor for reading write", ["python3"], async ({ scratch, around }) => {
  const kept = join(scratch.top, "kept.txt");
  writeFileSync(kept, "kept\n");
  const script = `
import fcntl, mmap
fd = os.open("${kept}", os.O_RDONLY); own = os.open("own", os.O_RDWR | os.O_CREAT, 0o600); os.write(own, b"evil"); os.lseek(own, 0, 0)
def mapped():
    area = mmap.mmap(fd, 4, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE); area[0:4] = b"evil"
def protected():
    libc.mmap.restype = ctypes.c_void_p
    area = libc.mmap(None, ctypes.c_size_t(4096), 1, 1, fd, ctypes.c_long(0))
    if libc.mprotect(ctypes.c_void_p(area), ctypes.c_size_t(4096), 3) != 0: raise PermissionError(ctypes.get_errno(), "")
tries = {"write": lambda: os.write(fd, b"evil"), "truncate": lambda: os.ftruncate(fd, 0), "sendfile": lambda: os.sendfile(fd, own, 0, 4),
  "copy": lambda: os.copy_file_range(own, fd, 4), "fallocate": lambda: os.posix_fallocate(fd, 0, 9), "clone": lambda: fcntl.ioctl(fd, 0x40049409, own),
  "flags": lambda: (fcntl.fcntl(fd, fcntl.F_SETFL, os.O_RDWR), os.write(fd, b"evil")), "splice": lambda: (os.write(os.pipe()[1], b"x"), os.splice(own, fd, 4)),
  "map": mapped, "protect": protected, "reopen": lambda: os.open(f"/proc/self/fd/{fd}", os.O_RDWR), "dev": lambda: os.open(f"/dev/fd/{fd}", os.O_RDWR),
  "lease": lambda: fcntl.fcntl(fd, 1024, 1), "xattr": lambda: os.setxattr(fd, "user.x", b"x")}
for name, action in tries.items():
    try: action(); print("DONE", name)
    except (OSError, ValueError): print("refused", name)
print(os.sendfile(own, fd, 0, 4), os.pread(own, 9, 0))
`;
  const end = await runCordon(
    [
      "run",
      `--allow-read=${kept}`,
      "--",
      "python3",
      "-c",
      `import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n${script}`,
    ],
    around,
  );
  expect(readFileSync(kept, "utf8")).toBe("kept\n");
  expect(end.code).toBe(0);
  expect(end.stdout).not.toMatch(/DONE (?!lease)/);
  expect(end.stdout).toContain("4 b'kept'");
});
