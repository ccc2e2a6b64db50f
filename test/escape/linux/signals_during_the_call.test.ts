import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a storm of signals changes no answer: own files are made, those outside are not",
  ["gcc"],
  async ({ scratch, c }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await c(`
static volatile int hits; static void handle(int unused) { hits++; }
int main(void) {
  struct sigaction action = { .sa_handler = handle }; sigaction(SIGALRM, &action, 0);
  timer_t timer; struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  struct itimerspec often = { { 0, 50000 }, { 0, 50000 } }; timer_settime(timer, 0, &often, 0);
  int made = 0, opened = 0; char name[32];
  for (int n = 0; n < 3000; n++) {
    snprintf(name, sizeof name, "f%d", n % 20);
    int fd = open(name, O_WRONLY | O_CREAT, 0600);
    if (fd >= 0) { made++; close(fd); } else if (errno != EINTR) printf("errno %d\\n", errno);
    if (open("${kept}", O_WRONLY | O_TRUNC) >= 0) opened++;
    unlink(name);
  }
  printf(made > 100 && opened == 0 && hits > 10 ? "as it should\\n" : "made %d opened %d hits %d\\n", made, opened, hits); return 0;
}`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: "as it should\n" });
  },
);
