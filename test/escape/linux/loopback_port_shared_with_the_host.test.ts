import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { serveOnHost } from "../../support/host_port.ts";

attempt(
  "E10 a service of the host is not reached by listening on its port beside it, an own one on another port is",
  ["python3"],
  async ({ python }) => {
    await using host = await serveOnHost(`
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1); s.bind(("127.0.0.1", 0)); s.listen(50)`);
    const end = await python(`
import threading
def serve(port):
  s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
  s.bind(("127.0.0.1", port)); s.listen(50)
  def answer():
    while True: s.accept()[0].sendall(b"own word")
  threading.Thread(target=answer, daemon=True).start()
  return s.getsockname()[1]
def ask(port):
  try: return socket.create_connection(("127.0.0.1", port), 5).recv(99).decode()
  except OSError as error: return error.errno
try: serve(${host.port})
except OSError: pass
print(sorted({str(ask(${host.port})) for _ in range(40)}))
print(ask(serve(0)))`);
    expect(end.stdout).not.toContain(host.word);
    expect(end).toMatchObject({ code: 0, stdout: expect.stringMatching(/own word\n$/) });
    expect(await host.connections()).toBe(0);
  },
);
