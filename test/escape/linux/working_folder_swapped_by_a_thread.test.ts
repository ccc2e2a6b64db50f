import { expect } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 a working folder that another thread changes makes nothing outside", ["gcc"], async ({ scratch, c }) => {
  const outside = join(scratch.top, "outside");
  mkdirSync(outside);
  const source = `
static atomic_int over; static int in, out;
static void *swap(void *unused) { while (!over) { fchdir(out); fchdir(in); } return 0; }
int main(void) {
  in = open(".", O_RDONLY | O_DIRECTORY); out = open("${outside}", O_RDONLY | O_DIRECTORY);
  pthread_t thread; pthread_create(&thread, 0, swap, 0);
  int made = 0;
  for (int n = 0; n < 10000; n++) {
    int fd = open("new", O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) { made++; close(fd); }
    rename("new", "newer"); truncate("newer", 0); unlink("newer");
  }
  over = 1; pthread_join(thread, 0); printf(made > 0 ? "made\\n" : "none\\n"); return 0;
}`;
  const end = await c(source, [`--allow-read=${outside}`]);
  expect(readdirSync(outside)).toEqual([]);
  expect(end).toMatchObject({ code: 0, stdout: "made\n" });
});
