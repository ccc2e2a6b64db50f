import { expect } from "bun:test";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 a process of the host can't be traced, read or signalled by its number",
  ["python3"],
  async ({ python }) => {
    // The test itself, and its parent: both belong to the same user.
    for (const pid of [process.pid, process.ppid]) {
      const end = await python(`
call(${callNumber("ptrace")}, 16, ${pid}, 0, 0)
buffer = ctypes.create_string_buffer(8)
iov = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
call(${callNumber("process_vm_readv")}, ${pid}, iov, 1, iov, 1, 0)
fd = call(${callNumber("pidfd_open")}, ${pid}, 0)
try:
    os.kill(${pid}, 0); print("signalled")
except OSError as error: print("refused", errno.errorcode[error.errno])
for name in ("environ", "mem", "maps"):
    try: print("opened", name, open(f"/proc/${pid}/{name}", "rb").read(1))
    except OSError: print("refused")
# Without a pid namespace the numbers of its descriptors may be listed; what they lead to may not be had.
try: numbers = os.listdir("/proc/${pid}/fd")
except OSError: numbers = ["0"]
for name in ["cwd", "root"] + [f"fd/{number}" for number in numbers]:
    for attempt in (os.readlink, lambda path: os.open(path, os.O_RDONLY)):
        try: print("opened", name, attempt(f"/proc/${pid}/{name}"))
        except OSError: print("refused")
`);
      expect(end.code).toBe(0);
      expect(end.stdout).not.toMatch(/opened|signalled/);
      expect(end.stdout.match(/refused/g)?.length).toBeGreaterThanOrEqual(9);
    }
    const twin = await python(`
child = os.fork()
if child == 0:
    import signal; signal.pause()
os.kill(child, 9); print(os.waitpid(child, 0)[1])`);
    expect(twin).toMatchObject({ code: 0, stdout: "9\n" });
  },
);
