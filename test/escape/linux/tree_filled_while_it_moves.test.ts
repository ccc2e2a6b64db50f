import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a folder that fills while it is renamed carries no name that a glob closes",
  ["gcc"],
  async ({ scratch, c }) => {
    const source = `
static atomic_int over;
static void *fill(void *unused) {
  while (!over) { close(open("a/in/plain", O_WRONLY | O_CREAT, 0600)); rename("a/in/plain", "a/in/x.closed"); rename("b/in/plain", "b/in/x.closed"); link("a/in/plain", "b/in/y.closed"); }
  return 0;
}
int main(void) {
  mkdir("a", 0700); mkdir("a/in", 0700); pthread_t thread; pthread_create(&thread, 0, fill, 0);
  int moved = 0;
  for (int n = 0; n < 3000; n++) { if (rename("a", "b") == 0) moved++; if (rename("b", "a") == 0) moved++; }
  over = 1; pthread_join(thread, 0); printf(moved > 0 ? "moved\\n" : "none\\n"); return 0;
}`;
    const end = await c(source, [`--deny-write=${scratch.work}/**/*.closed`]);
    const left = readdirSync(scratch.work, { recursive: true, encoding: "utf8" });
    expect(left.filter((name) => name.endsWith(".closed"))).toEqual([]);
    expect(end).toMatchObject({ code: 0, stdout: "moved\n" });
  },
);
