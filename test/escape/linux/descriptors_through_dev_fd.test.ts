import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 /dev/fd, /dev/stdin and /proc/self/map_files open nothing for writing that was open for reading",
  ["python3"],
  async ({ scratch, around }) => {
    const kept = join(scratch.top, "kept.txt");
    writeFileSync(kept, "kept\n");
    const script = `
import mmap, os
fd = os.open("${kept}", os.O_RDONLY); os.dup2(fd, 0); area = mmap.mmap(fd, 4, mmap.MAP_SHARED, mmap.PROT_READ)
name = next((line.split()[0] for line in open("/proc/self/maps") if line.rstrip().endswith("kept.txt")), "none")
for path in (f"/dev/fd/{fd}", "/dev/stdin", "/proc/self/fd/0", "/proc/thread-self/fd/0", f"/proc/self/map_files/{name}", f"/proc/{os.getpid()}/fd/{fd}", f"/proc/self/task/{os.getpid()}/fd/{fd}"):
    try: os.open(path, os.O_WRONLY | os.O_TRUNC); print("OPENED", path)
    except OSError: print("closed")
own = os.open("own", os.O_RDWR | os.O_CREAT, 0o600); os.write(os.open(f"/dev/fd/{own}", os.O_WRONLY), b"own"); print(os.pread(own, 9, 0).decode())
`;
    const end = await runCordon(["run", `--allow-read=${kept}`, "--", "python3", "-c", script], around);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: `${"closed\n".repeat(7)}own\n` });
  },
);
