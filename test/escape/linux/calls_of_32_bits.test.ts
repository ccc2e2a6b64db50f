import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 system calls of the 32-bit kind and of x32 do not exist", ["gcc"], async ({ scratch, c }) => {
  const kept = join(scratch.home, "kept.txt");
  writeFileSync(kept, "kept\n");

  if (process.arch !== "x64") return; // Other processors have other doors.
  const end = await c(`
int main(void) {
  long x32 = syscall(0x40000000 | SYS_open, "${kept}", O_WRONLY | O_TRUNC);
  printf("%s\\n", x32 < 0 ? "closed" : "OPENED"); fflush(stdout);
  int child = fork();
  if (child == 0) {
    char *low = mmap((void *)0x10000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    strcpy(low, "${kept}");
    int end; __asm__ volatile("int $0x80" : "=a"(end) : "a"(5), "b"(0x10000), "c"(O_WRONLY | O_TRUNC), "d"(0) : "memory");
    _exit(end >= 0 ? 9 : 7);
  }
  int status; waitpid(child, &status, 0);
  printf("%s\\n", WIFEXITED(status) && WEXITSTATUS(status) == 9 ? "OPENED" : "closed");
  close(open("own", O_WRONLY | O_CREAT, 0600)); printf("%d\\n", access("own", F_OK)); return 0;
}`);
  expect(readFileSync(kept, "utf8")).toBe("kept\n");
  expect(end).toMatchObject({ code: 0, stdout: "closed\nclosed\n0\n" });
});
