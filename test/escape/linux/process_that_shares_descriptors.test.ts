import { expect } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a process that shares memory, descriptors and folder with another opens nothing outside",
  ["gcc"],
  async ({ scratch, c }) => {
    const outside = join(scratch.top, "outside");
    mkdirSync(outside);
    const source = `
static atomic_int over; static int in, out; static char stack[65536];
static int swap(void *unused) { while (!over) { dup2(out, 50); fchdir(out); dup2(in, 50); fchdir(in); } return 0; }
int main(void) {
  in = open(".", O_RDONLY | O_DIRECTORY); out = open("${outside}", O_RDONLY | O_DIRECTORY); dup2(in, 50);
  int pid = clone(swap, stack + sizeof stack, CLONE_VM | CLONE_FILES | CLONE_FS | SIGCHLD, 0);
  int made = 0;
  for (int n = 0; n < 5000; n++) {
    int fd = openat(n % 2 ? 50 : AT_FDCWD, "new", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) { made++; close(fd); }
  }
  over = 1; waitpid(pid, 0, 0); printf(made > 0 ? "made\\n" : "none\\n"); return 0;
}`;
    const end = await c(source, [`--allow-read=${outside}`]);
    expect(readdirSync(outside)).toEqual([]);
    expect(end).toMatchObject({ code: 0, stdout: "made\n" });
  },
);
