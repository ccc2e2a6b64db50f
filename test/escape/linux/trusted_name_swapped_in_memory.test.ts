import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a name that another thread changes during the call is not that of a file that the host obeys",
  ["gcc"],
  async ({ scratch, c }) => {
    const end = await c(`
static char path[64]; static atomic_int over;
static void *swap(void *unused) { while (!over) { strcpy(path, ".envrc"); strcpy(path, "fine.x"); } return 0; }
int main(void) {
  pthread_t thread; strcpy(path, "fine.x"); pthread_create(&thread, 0, swap, 0);
  int made = 0;
  for (int n = 0; n < 10000; n++) {
    int fd = open(path, O_WRONLY | O_CREAT, 0600); if (fd >= 0) { made++; close(fd); }
    close(open("own", O_WRONLY | O_CREAT, 0600)); rename("own", path); link("fine.x", path); symlink("own", path); mkdir(path, 0700); mknod(path, S_IFREG | 0600, 0); rmdir("fine.x"); unlink("fine.x");
  }
  over = 1; pthread_join(thread, 0); printf(made > 0 ? "made\\n" : "none\\n"); return 0;
}`);
    expect(existsSync(join(scratch.work, ".envrc"))).toBe(false);
    expect(end).toMatchObject({ code: 0, stdout: "made\n" });
  },
);
