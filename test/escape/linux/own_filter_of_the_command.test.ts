import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a filter that the command puts on itself lets nothing pass that was refused",
  ["gcc"],
  async ({ scratch, c }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await c(`
#include <linux/filter.h>
#include <linux/seccomp.h>
static int install(unsigned int action, unsigned int flags) {
  struct sock_filter code[] = { { BPF_RET | BPF_K, 0, 0, action } };
  struct sock_fprog program = { 1, code };
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}
int main(void) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // With a listener of its own it could answer its own calls.
  int listener = install(SECCOMP_RET_ALLOW, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  int open_outside = open("${kept}", O_WRONLY | O_TRUNC);
  int allowed = install(SECCOMP_RET_ALLOW, 0);
  int logged = install(SECCOMP_RET_LOG, 0);
  int again = open("${kept}", O_WRONLY | O_TRUNC);
  int own = open("own", O_WRONLY | O_CREAT, 0600);
  printf("%s %s %d %d %s\\n", open_outside < 0 ? "closed" : "OPENED", again < 0 ? "closed" : "OPENED", allowed, logged, own >= 0 ? "own" : "none");
  (void)listener; return 0;
}`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: "closed closed 0 0 own\n" });
  },
);
