import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt("E5 an abstract Unix socket of the host can't be reached", ["python3"], async ({ python }) => {
  let connections = 0;
  const name = `cordon-e2e-${crypto.randomUUID()}`;
  const server = Bun.listen({ unix: `\0${name}`, socket: { open: () => void connections++, data: () => {} } });
  try {
    // Proof that the door is there: the same dial from outside arrives.
    const dial = `import socket; socket.socket(socket.AF_UNIX).connect("\\0${name}")`;
    const outside = Bun.spawn(["python3", "-c", dial]);
    expect(await outside.exited).toBe(0);
    expect(connections).toBe(1);
    expect((await python(dial)).code).not.toBe(0);
    const datagram = `s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.sendto(b"x", "\\0${name}")`;
    expect((await python(datagram)).code).not.toBe(0);
    expect(connections).toBe(1);
  } finally {
    server.stop(true);
  }
  const own = `
s = socket.socket(socket.AF_UNIX); s.bind("\\0own"); s.listen(); socket.socket(socket.AF_UNIX).connect("\\0own"); print("met")`;
  expect(await python(own)).toMatchObject({ code: 0, stdout: "met\n" });
});
