import { expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 a descriptor that goes from one process to another opens no more than before",
  ["python3"],
  async ({ scratch, around }) => {
    const outside = join(scratch.top, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "kept.txt"), "kept\n");
    const script = `
import os, socket
a, b = socket.socketpair()
if os.fork() == 0:
    fds = [os.open("${outside}", os.O_PATH), os.open("${outside}/kept.txt", os.O_PATH), os.open("${outside}/kept.txt", os.O_RDONLY), os.open("own", os.O_WRONLY | os.O_CREAT, 0o600)]
    socket.send_fds(a, [b"x"], fds); os._exit(0)
folder, path, reading, own = socket.recv_fds(b, 9, 9)[1]
tries = [lambda: os.open("kept.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=folder), lambda: os.open("new", os.O_WRONLY | os.O_CREAT, dir_fd=folder), lambda: os.mkdir("new", dir_fd=folder),
  lambda: os.open(f"/proc/self/fd/{path}", os.O_WRONLY | os.O_TRUNC), lambda: os.open(f"/proc/self/fd/{reading}", os.O_RDWR), lambda: os.link(f"/proc/self/fd/{reading}", "h", follow_symlinks=True),
  lambda: os.rename("kept.txt", "own2", src_dir_fd=folder), lambda: os.unlink("kept.txt", dir_fd=folder)]
for number, action in enumerate(tries):
    try: action(); print("DONE", number)
    except OSError: print("refused")
print(os.write(own, b"own"))
`;
    const end = await runCordon(["run", `--allow-read=${outside}`, "--", "python3", "-c", script], around);
    expect(readFileSync(join(outside, "kept.txt"), "utf8")).toBe("kept\n");
    expect(readdirSync(outside)).toEqual(["kept.txt"]);
    expect(end).toMatchObject({ code: 0, stdout: `${"refused\n".repeat(8)}3\n` });
  },
);
