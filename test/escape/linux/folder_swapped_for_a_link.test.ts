import { expect } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a folder that another thread swaps for a link out makes nothing outside",
  ["gcc"],
  async ({ scratch, c }) => {
    const outside = join(scratch.top, "outside");
    mkdirSync(outside);
    const end = await c(`
static atomic_int over;
static void *swap(void *unused) {
  while (!over) {
    rename("d", "real"); symlink("${outside}", "d"); unlink("d"); rename("real", "d");
  }
  return 0;
}
int main(void) {
  pthread_t thread; mkdir("d", 0700); pthread_create(&thread, 0, swap, 0);
  int made = 0; char name[64];
  // As many as a slow machine has time for: each of them waits for the broker.
  time_t until = time(0) + 20;
  for (int n = 0; n < 8000 && time(0) < until; n++) {
    snprintf(name, sizeof name, "d/f%d", n % 50);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) { made++; close(fd); }
    snprintf(name, sizeof name, "d/m%d", n % 50); mkdir(name, 0700); rename("d/f1", "d/g");
  }
  over = 1; pthread_join(thread, 0); printf(made > 0 ? "made\\n" : "none\\n"); return 0;
}`);
    expect(readdirSync(outside)).toEqual([]);
    expect(end).toMatchObject({ code: 0, stdout: "made\n" });
  },
);
