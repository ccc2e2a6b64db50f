import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a rename whose target another thread changes during the call makes nothing outside",
  ["gcc"],
  async ({ scratch, c }) => {
    const outside = join(scratch.home, "stolen.txt");
    const end = await c(`
static char path[200]; static atomic_int over;
static void *swap(void *unused) { while (!over) { strcpy(path, "${outside}"); strcpy(path, "fine"); } return 0; }
int main(void) {
  pthread_t thread; strcpy(path, "fine"); pthread_create(&thread, 0, swap, 0);
  int moved = 0;
  for (int n = 0; n < 5000; n++) {
    close(open("own", O_WRONLY | O_CREAT, 0600));
    if (rename("own", path) == 0) moved++;
    if (link("own", path) == 0) moved++;
    if (symlink("own", path) == 0) moved++;
    unlink("fine");
  }
  over = 1; pthread_join(thread, 0); printf(moved > 0 ? "moved\\n" : "none\\n"); return 0;
}`);
    expect(existsSync(outside)).toBe(false);
    expect(end).toMatchObject({ code: 0, stdout: "moved\n" });
  },
);
