import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 flags that another thread changes during openat2 open no file outside for writing",
  ["gcc"],
  async ({ scratch, c }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await c(`
static struct { unsigned long flags, mode, resolve; } how; static atomic_int over;
static void *swap(void *unused) { while (!over) { how.flags = O_WRONLY | O_TRUNC; how.flags = O_PATH; } return 0; }
int main(void) {
  pthread_t thread; how.flags = O_PATH; pthread_create(&thread, 0, swap, 0);
  for (int n = 0; n < 20000; n++) {
    int fd = syscall(SYS_openat2, AT_FDCWD, "${kept}", &how, sizeof how);
    if (fd >= 0) { write(fd, "evil", 4); close(fd); }
  }
  over = 1; pthread_join(thread, 0);
  how.flags = O_WRONLY | O_CREAT; how.mode = 0600;
  int own = syscall(SYS_openat2, AT_FDCWD, "own", &how, sizeof how);
  printf(own >= 0 && write(own, "x", 1) == 1 ? "own\\n" : "none\\n"); return 0;
}`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: "own\n" });
  },
);
