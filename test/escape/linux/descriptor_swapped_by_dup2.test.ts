import { expect } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a folder's descriptor that another thread swaps by dup2 makes nothing outside",
  ["gcc"],
  async ({ scratch, c }) => {
    const outside = join(scratch.top, "outside");
    mkdirSync(outside);
    const source = `
static atomic_int over; static int in, out;
static void *swap(void *unused) { while (!over) { dup2(out, 50); dup2(in, 50); } return 0; }
int main(void) {
  in = open(".", O_RDONLY | O_DIRECTORY); out = open("${outside}", O_RDONLY | O_DIRECTORY);
  if (out < 0) out = open("/", O_RDONLY | O_DIRECTORY);
  dup2(in, 50); pthread_t thread; pthread_create(&thread, 0, swap, 0);
  int made = 0;
  for (int n = 0; n < 10000; n++) {
    int fd = openat(50, "new", O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) { made++; close(fd); }
    mkdirat(50, "folder", 0700); symlinkat("x", 50, "link"); renameat(50, "new", 50, "newer"); unlinkat(50, "newer", 0);
  }
  over = 1; pthread_join(thread, 0); printf(made > 0 ? "made\\n" : "none\\n"); return 0;
}`;
    const end = await c(source, [`--allow-read=${outside}`]);
    expect(readdirSync(outside)).toEqual([]);
    expect(end).toMatchObject({ code: 0, stdout: "made\n" });
  },
);
