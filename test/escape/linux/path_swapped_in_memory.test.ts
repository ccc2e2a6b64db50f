import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a path that another thread changes during the call leads to no file outside",
  ["gcc"],
  async ({ scratch, c }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await c(`
static char path[200]; static atomic_int over;
static void *swap(void *unused) { while (!over) { strcpy(path, "${kept}"); strcpy(path, "fine"); } return 0; }
int main(void) {
  pthread_t thread; strcpy(path, "fine"); pthread_create(&thread, 0, swap, 0);
  int made = 0;
  for (int n = 0; n < 20000; n++) {
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) { made++; write(fd, "x", 1); close(fd); }
  }
  over = 1; pthread_join(thread, 0); printf(made > 0 ? "made\\n" : "none\\n"); return 0;
}`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    // The allowed twin: those that read as the file of the workspace were made.
    expect(end).toMatchObject({ code: 0, stdout: "made\n" });
  },
);
