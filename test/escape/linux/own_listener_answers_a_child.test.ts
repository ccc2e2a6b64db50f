import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 a command can't let its child's calls go on by a listener of its own", ["gcc"], async ({ scratch, c }) => {
  const kept = join(scratch.home, "kept.txt");
  writeFileSync(kept, "kept\n");

  const end = await c(`
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
int main(void) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  int pair[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
  int child = fork();
  if (child == 0) {
    struct sock_filter code[] = {
      { BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr) },
      { BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_openat }, { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF }, { BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW } };
    struct sock_fprog program = { 4, code };
    int listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    char number = listener; write(pair[0], &number, 1);
    _exit(open("${kept}", O_WRONLY | O_TRUNC) >= 0 ? 9 : 7);
  }
  char number; read(pair[1], &number, 1);
  if (number >= 0) {
    int pidfd = syscall(SYS_pidfd_open, child, 0), listener = syscall(SYS_pidfd_getfd, pidfd, number, 0);
    struct seccomp_notif call = { 0 }; struct seccomp_notif_resp answer = { 0 };
    if (listener >= 0 && ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0) {
      answer.id = call.id; answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE; ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    } else kill(child, SIGKILL);
  }
  int status; waitpid(child, &status, 0);
  printf("%s\\n", WIFEXITED(status) && WEXITSTATUS(status) == 9 ? "OPENED" : "closed");
  close(open("own", O_WRONLY | O_CREAT, 0600)); printf("%d\\n", access("own", F_OK)); return 0;
}`);
  expect(readFileSync(kept, "utf8")).toBe("kept\n");
  expect(end).toMatchObject({ code: 0, stdout: "closed\n0\n" });
});
