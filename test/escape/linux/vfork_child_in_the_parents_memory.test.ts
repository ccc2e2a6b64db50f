import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 a child of vfork is judged by its own folder and descriptors", ["gcc"], async ({ scratch, c }) => {
  const kept = join(scratch.home, "kept.txt");
  writeFileSync(kept, "kept\n");

  const end = await c(`
int main(void) {
  char name[] = "own"; mkdir("d", 0700);
  int pid = vfork();
  if (pid == 0) {
    chdir("d");
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    int evil = open("${kept}", O_WRONLY | O_TRUNC);
    _exit(fd >= 0 && evil < 0 ? 7 : 1);
  }
  int status; waitpid(pid, &status, 0);
  printf("%d %d\\n", WEXITSTATUS(status), access("d/own", F_OK)); return 0;
}`);
  expect(readFileSync(kept, "utf8")).toBe("kept\n");
  expect(end).toMatchObject({ code: 0, stdout: "7 0\n" });
});
