/** What listens and runs on the host while cases run: each says `word` to whoever reaches it. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { asUser } from "./place.ts";
import { SYSTEM_PATH } from "../support/run_cordon.ts";

/** Addresses of the services; `pid` is a sleeping process of the user under test with `word` in its environment and memory. */
export type HostServices = {
  tcpPort: number;
  udpPort: number;
  socketPath: string;
  abstractName: string;
  pid: number;
  word: string;
  /** Whether a datagram with this text has come in. */
  heard: (text: string) => boolean;
  stop: () => void;
};

/** Starts them; the sleeping process belongs to `uid`. */
export async function startServices(uid: number): Promise<HostServices> {
  const word = `reached-${crypto.randomUUID()}`;
  const folder = mkdtempSync("/var/tmp/conformance-host-");
  chmodSync(folder, 0o755);
  const greet = { open: (socket: { end: (text: string) => unknown }) => void socket.end(`${word}\n`), data: () => {} };
  const heard: string[] = [];
  const tcp = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: greet });
  const socketPath = join(folder, "service.sock");
  const unix = Bun.listen({ unix: socketPath, socket: greet });
  chmodSync(socketPath, 0o777);
  const abstractName = `conformance-${crypto.randomUUID()}`;
  const abstract = Bun.listen({ unix: `\0${abstractName}`, socket: greet });
  const udp = await Bun.udpSocket({
    hostname: "127.0.0.1",
    socket: { data: (_socket, bytes) => void heard.push(bytes.toString()) },
  });
  const sleeper = Bun.spawn([...asUser(uid), "sleep", "86400"], {
    cwd: "/",
    env: { PATH: SYSTEM_PATH, HOST_WORD: word },
  });
  return {
    tcpPort: tcp.port,
    udpPort: udp.port,
    socketPath,
    abstractName,
    pid: sleeper.pid,
    word,
    heard: (text) => heard.some((one) => one.includes(text)),
    stop: () => {
      sleeper.kill("SIGKILL");
      for (const server of [tcp, unix, abstract]) server.stop(true);
      udp.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
