import { expect } from "bun:test";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 an address that another thread changes during connect reaches no service of the host in the workspace",
  ["gcc"],
  async ({ scratch, c }) => {
    let connections = 0;
    const path = join(scratch.work, "host.sock");
    const server = Bun.listen({ unix: path, socket: { open: () => void connections++, data: () => {} } });
    try {
      const end = await c(`
static struct sockaddr_un address = { .sun_family = AF_UNIX }; static atomic_int over;
static void *swap(void *unused) { while (!over) { strcpy(address.sun_path, "host.sock"); strcpy(address.sun_path, "ownn.sock"); } return 0; }
int main(void) {
  int server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); strcpy(address.sun_path, "ownn.sock"); bind(server, (void *)&address, sizeof address); listen(server, 100);
  pthread_t thread; pthread_create(&thread, 0, swap, 0); int met = 0;
  for (int n = 0; n < 3000; n++) {
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); if (connect(client, (void *)&address, sizeof address) == 0) met++;
    close(client); int got = accept4(server, 0, 0, SOCK_NONBLOCK); (void)got;
    if (got >= 0) close(got);

  }
  over = 1; pthread_join(thread, 0); printf(met > 0 ? "met\\n" : "none\\n"); return 0;
}`);
      expect(connections).toBe(0);
      expect(end).toMatchObject({ code: 0, stdout: "met\n" });
    } finally {
      server.stop(true);
    }
  },
);
