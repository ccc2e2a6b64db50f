import { expect } from "bun:test";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 the memory and descriptors of cordon's own processes can't be had from inside",
  ["python3"],
  async ({ python }) => {
    const end = await python(`
own = os.getpid()
# Those above it in the tree: what confines it and answers its calls. What they are is known from stat alone.
near, pid = [], own
while pid > 1 and len(near) < 4:
    pid = int(open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[1]) if os.path.exists(f"/proc/{pid}/stat") else 0
    if pid > 0: near.append(pid)
refused = 0
def tried(what, action):
    global refused
    try: print("OPENED", what, action())
    except OSError: refused += 1
for pid in near:
    for name, flags in (("mem", os.O_RDWR), ("mem", os.O_RDONLY), ("environ", os.O_RDONLY), ("maps", os.O_RDONLY), ("fd/0", os.O_RDWR), ("fd/3", os.O_RDWR), ("root", os.O_RDONLY), ("cwd", os.O_RDONLY), ("exe", os.O_RDONLY)):
        tried((pid, name), lambda: os.open(f"/proc/{pid}/{name}", flags))
    buffer = ctypes.create_string_buffer(8); vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    for number in (${callNumber("process_vm_readv")}, ${callNumber("process_vm_writev")}):
        if libc.syscall(number, pid, vector, 1, vector, 1, 0) >= 0: print("OPENED memory")
    for request in (16, 0x4206):
        if libc.syscall(${callNumber("ptrace")}, request, pid, 0, 0) >= 0: print("OPENED trace", pid)
    fd = libc.syscall(${callNumber("pidfd_open")}, pid, 0)
    for number in range(0, 20):
        if fd >= 0 and libc.syscall(${callNumber("pidfd_getfd")}, fd, number, 0) >= 0: print("OPENED descriptor", pid, number)
print("refused" if refused >= 9 else f"too few: {near}")
`);
    expect(end.code).toBe(0);
    expect(end.stdout).not.toContain("OPENED");
    expect(end.stdout).toContain("refused");
    // The allowed twin: a program looks at itself.
    expect(
      await python(`print(len(open("/proc/self/environ").read()) > 0, len(os.listdir("/proc/self/fd")) < 6)`),
    ).toMatchObject({
      code: 0,
      stdout: "True True\n",
    });
  },
);
