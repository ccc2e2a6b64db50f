/** A TCP service on the loopback of the host, as a process of its own, that counts who came to it. */
import { SYSTEM_PATH } from "./run_cordon.ts";

/** A service that runs; disposing ends it. */
export type HostPort = {
  port: number;
  /** What it says to everybody. */
  word: string;
  /** How many connections it got so far. */
  connections: () => Promise<number>;
  [Symbol.asyncDispose]: () => Promise<void>;
};

const WORD = "word-of-the-host";

/**
 * Starts the service. `setup` is Python that makes the listening socket `s`; or, for one that "waits for the port", a function
 * `once` that tries to listen on `port`, which is free at the start.
 */
export async function serveOnHost(setup: string, way: "listens" | "waits for the port" = "listens"): Promise<HostPort> {
  const prepare =
    way === "listens"
      ? `${setup}\nport = s.getsockname()[1]; s.settimeout(0.05)\ndef once(): pass`
      : `free = socket.socket(); free.bind(("127.0.0.1", 0)); port = free.getsockname()[1]; free.close()${setup}`;
  const script = `import random, select, socket, sys, time
${prepare}
print(port, flush=True)
count = 0
while not select.select([sys.stdin], [], [], 0)[0]:
  once()
  try: peer = s.accept()[0]; count += 1; peer.sendall(b"${WORD}"); peer.close()
  except OSError: pass
  ${way === "listens" ? "" : "s.close()"}
print(count, flush=True)`;
  const child = Bun.spawn(["python3", "-c", script], { stdin: "pipe", stdout: "pipe", env: { PATH: SYSTEM_PATH } });
  const reader = child.stdout.getReader();
  const line = async () => Number(new TextDecoder().decode((await reader.read()).value).trim());
  return {
    port: await line(),
    word: WORD,
    connections: async () => {
      child.stdin.end();
      return line();
    },
    [Symbol.asyncDispose]: async () => {
      child.kill();
      await child.exited;
    },
  };
}
