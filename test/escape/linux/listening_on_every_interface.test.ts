import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E10 no socket listens where other machines could reach it: not one without an address, nor one put in another's place",
  ["gcc"],
  async ({ c, tier }) => {
    const end = await c(`
#include <arpa/inet.h>
#include <netinet/in.h>
enum { SLOT = 100 }; static atomic_int over; static int local, plain;
static void *swap(void *unused) { while (!over) { dup2(local, SLOT); dup2(plain, SLOT); } return 0; }
static void show(int s) {
  struct sockaddr_in a; socklen_t n = sizeof a; getsockname(s, (void *)&a, &n);
  if (ntohs(a.sin_port)) printf("%s\\n", inet_ntoa(a.sin_addr));
}
int main(void) {
  int bare = socket(AF_INET, SOCK_STREAM, 0); listen(bare, 5); show(bare);
  int wide = socket(AF_INET, SOCK_STREAM, 0); struct sockaddr_in any = { .sin_family = AF_INET };
  bind(wide, (void *)&any, sizeof any); listen(wide, 5); show(wide);
  local = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un own = { .sun_family = AF_UNIX, .sun_path = "own.sock" };
  bind(local, (void *)&own, sizeof own); plain = socket(AF_INET, SOCK_STREAM, 0);
  pthread_t thread; pthread_create(&thread, 0, swap, 0);
  for (int n = 0; n < 500; n++) {
    listen(SLOT, 5);
    struct sockaddr_in a; socklen_t size = sizeof a; getsockname(plain, (void *)&a, &size);
    if (a.sin_port && a.sin_addr.s_addr == 0) { puts("listens on all"); break; }
  }
  over = 1; pthread_join(thread, 0); return 0;
}`);
    expect(end.code).toBe(0);
    // A network namespace has no interface that leads out.
    if (tier === "landlock") expect(end.stdout).toBe("127.0.0.1\n127.0.0.1\n");
    else expect(end.stdout).toContain("0.0.0.0\n0.0.0.0\n");
  },
);
