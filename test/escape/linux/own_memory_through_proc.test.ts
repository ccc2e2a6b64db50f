import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 /proc/self opened for writing is the caller's, never that of what opens it",
  ["python3"],
  async ({ python }) => {
    const end = await python(`
import threading
word = ctypes.create_string_buffer(b"before")
os.symlink("/proc/self", "me"); os.symlink("/proc/self/mem", "memory")
proc = os.open("/proc", os.O_RDONLY)
ways = {"direct": lambda: os.open("/proc/self/mem", os.O_RDWR), "thread": lambda: os.open("/proc/thread-self/mem", os.O_RDWR),
  "number": lambda: os.open(f"/proc/{os.getpid()}/mem", os.O_RDWR), "link": lambda: os.open("me/mem", os.O_RDWR), "whole": lambda: os.open("memory", os.O_RDWR),
  "descriptor": lambda: os.open("self/mem", os.O_RDWR, dir_fd=proc), "task": lambda: os.open(f"/proc/self/task/{threading.get_native_id()}/mem", os.O_RDWR)}
for name, way in ways.items():
    word.value = b"before"
    try: fd = way()
    except OSError as error: print(name, "refused", errno.errorcode[error.errno]); continue
    try: print(name, "own" if os.pread(fd, 6, ctypes.addressof(word)) == b"before" and os.pwrite(fd, b"after!", ctypes.addressof(word)) == 6 and word.value == b"after!" else "OTHER")
    except OSError: print(name, "OTHER")
    os.close(fd)
`);
    expect(end.code).toBe(0);
    expect(end.stdout).not.toContain("OTHER");
    expect(end.stdout.trim().split("\n")).toHaveLength(7);
    // The allowed twin: a program looks at itself and its threads.
    const named = await python(`
for path in ("/proc/self/comm", f"/proc/self/task/{os.getpid()}/comm", "/proc/thread-self/comm"):
    print(open(path).read() == open("/proc/self/comm").read())`);
    expect(named).toMatchObject({ code: 0, stdout: "True\n".repeat(3) });
  },
);
