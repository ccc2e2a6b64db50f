import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { serveOnHost } from "../../support/host_port.ts";

attempt(
  "E10 a connect on its way to an own listener never ends at a service of the host that takes the port over",
  ["gcc", "python3"],
  async ({ c }) => {
    // Waits for the port as a service does that is being restarted, and lets go of it again.
    await using host = await serveOnHost(
      `
s = None
def once():
  global s
  time.sleep(random.random() / 500)
  try:
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", port)); s.listen(50)
    s.settimeout(0.001)
  except OSError: s.close()`,
      "waits for the port",
    );
    const end = await c(`
#include <netinet/in.h>
static struct sockaddr_in address; static atomic_int listener = -1, over;
static void *ends_it(void *unused) {
  while (!over) { int s = atomic_exchange(&listener, -1); if (s >= 0) { if (s % 2) shutdown(s, SHUT_RDWR); close(s); } }
  return 0;
}
int main(void) {
  int met = 0, on = 1; time_t until = time(0) + 8;
  address.sin_family = AF_INET; address.sin_port = htons(${host.port}); address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  pthread_t thread; pthread_create(&thread, 0, ends_it, 0);
  while (time(0) < until) {
    int s = socket(AF_INET, SOCK_STREAM, 0); setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(s, (void *)&address, sizeof address) || listen(s, 0)) { close(s); continue; }
    int clients[4];
    // More than the queue takes, so that first packets are sent again while the port changes hands.
    for (int n = 0; n < 4; n++) {
      clients[n] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
      if (n == 2) listener = s;
      if (connect(clients[n], (void *)&address, sizeof address) == 0 || errno == EINPROGRESS) met++;
      send(clients[n], "from inside", 11, MSG_NOSIGNAL);
    }
    usleep(200);
    for (int n = 0; n < 4; n++) { send(clients[n], "from inside", 11, MSG_NOSIGNAL); close(clients[n]); }
    while (listener >= 0) usleep(10);
  }
  over = 1; pthread_join(thread, 0);
  printf(met > 10 ? "met\\n" : "hardly\\n"); return 0;
}`);
    expect(await host.connections()).toBe(0);
    expect(end).toMatchObject({ code: 0, stdout: "met\n" });
  },
);
