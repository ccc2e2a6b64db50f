import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 wild pointers and endless names get the kernel's errors, and the next call is answered",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
NUL = 0
O = {"openat2": ${callNumber("openat2")}, "renameat2": ${callNumber("renameat2")}, "linkat": ${callNumber("linkat")}}
libc.openat(-100, ctypes.c_void_p(8), 1); print(errno.errorcode[ctypes.get_errno()])
for pointer in (0, 8, 0x7fffffffffff, -1, 1 << 62):
    libc.syscall(ctypes.c_long(O["renameat2"]), -100, ctypes.c_void_p(pointer), -100, b"own", 0)
    libc.syscall(ctypes.c_long(O["linkat"]), -100, ctypes.c_void_p(pointer), -100, ctypes.c_void_p(pointer), 0)
    libc.syscall(ctypes.c_long(O["openat2"]), -100, b"own", ctypes.c_void_p(pointer), ctypes.c_long(24))
    libc.mkdir(ctypes.c_void_p(pointer), 0o700); libc.symlink(b"x", ctypes.c_void_p(pointer)); libc.truncate(ctypes.c_void_p(pointer), ctypes.c_long(0))
# A name that runs to the end of its page, without an end.
import mmap
page = libc.mmap; page.restype = ctypes.c_void_p
area = page(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_long(0)); libc.munmap(ctypes.c_void_p(area + 4096), ctypes.c_size_t(4096))
ctypes.memset(area, 97, 4096)
libc.openat(-100, ctypes.c_void_p(area), 0o101, 0o600); print(errno.errorcode[ctypes.get_errno()])
ctypes.memmove(area + 4096 - 4, b"own\\0", 4)
fd = libc.openat(-100, ctypes.c_void_p(area + 4092), 0o101, 0o600); print("own" if fd >= 0 else "none")
try: os.open("", os.O_WRONLY | os.O_CREAT); print("OPENED")
except OSError as error: print(errno.errorcode[error.errno])
try: os.open("${kept}", os.O_WRONLY | os.O_TRUNC); print("OPENED")
except OSError: print("closed")
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: "EFAULT\nENAMETOOLONG\nown\nENOENT\nclosed\n" });
  },
);
