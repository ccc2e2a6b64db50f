import { expect } from "bun:test";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a connect whose socket another thread exchanges for one of another family reaches no service of the host",
  ["gcc"],
  async ({ scratch, c }) => {
    let connections = 0;
    const path = join(scratch.work, "host.sock");
    const server = Bun.listen({ unix: path, socket: { open: () => void connections++, data: () => {} } });
    try {
      const end = await c(`
#include <netinet/in.h>
static struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "host.sock" }; static atomic_int over;
static int local, other; enum { SLOT = 100 };
static void *swap(void *unused) { while (!over) { dup2(local, SLOT); dup2(other, SLOT); } return 0; }
int main(void) {
  struct sockaddr_un own = { .sun_family = AF_UNIX, .sun_path = "own.sock" };
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); bind(server, (void *)&own, sizeof own); listen(server, 100);
  local = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); other = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, 0);
  pthread_t thread; pthread_create(&thread, 0, swap, 0);
  for (int n = 0; n < 3000; n++) connect(SLOT, (void *)&address, sizeof address);
  over = 1; pthread_join(thread, 0);
  int client = socket(AF_UNIX, SOCK_STREAM, 0);
  printf(connect(client, (void *)&own, sizeof own) == 0 ? "met\\n" : "none\\n"); return 0;
}`);
      expect(connections).toBe(0);
      expect(end).toMatchObject({ code: 0, stdout: "met\n" });
    } finally {
      server.stop(true);
    }
  },
);
