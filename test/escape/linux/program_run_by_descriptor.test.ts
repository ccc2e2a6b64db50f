import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 a program that is run by descriptor, from memory or by the loader is as confined as any",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
import glob
script = b"echo evil > ${kept}; echo own > own && echo ran"
def run(action):
    pid = os.fork()
    if pid == 0:
        try: action()
        finally: os._exit(1)
    os.waitpid(pid, 0)
def arguments(*words): return (ctypes.c_char_p * (len(words) + 1))(*words)
shell = os.open("/bin/sh", os.O_RDONLY); memory = os.memfd_create("sh"); os.write(memory, open("/bin/sh", "rb").read())
empty = arguments()
for fd in (shell, memory):
    run(lambda: libc.syscall(${callNumber("execveat")}, fd, b"", arguments(b"sh", b"-c", script), empty, 0x1000))
loader = (glob.glob("/lib64/ld-linux-*") + glob.glob("/lib/ld-linux-*"))[0]
run(lambda: os.execv(loader, [loader, "/bin/sh", "-c", script.decode()]))
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end.code).toBe(0);
    expect(end.stdout).toBe("ran\n".repeat(3));
  },
);
