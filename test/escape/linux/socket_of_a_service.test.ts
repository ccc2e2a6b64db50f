import { expect } from "bun:test";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 with the network open a socket of a service of the host can't be reached by its path",
  ["python3"],
  async ({ scratch, around }) => {
    let connections = 0;
    const path = join(scratch.home, "service.sock");
    const server = Bun.listen({ unix: path, socket: { open: () => void connections++, data: () => {} } });
    try {
      const dial = `import socket; socket.socket(socket.AF_UNIX).connect("${path}")`;
      // Proof that the door is there: the same dial from outside arrives.
      expect(await Bun.spawn(["python3", "-c", dial]).exited).toBe(0);
      expect((await runCordon(["run", "--allow-net", "--", "python3", "-c", dial], around)).code).not.toBe(0);
      expect(connections).toBe(1);
    } finally {
      server.stop(true);
    }
    // The allowed twin: the network is open, and a pair of sockets of its own works.
    const inside = `import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); socket.create_connection(s.getsockname())
a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))`;
    const met = await runCordon(["run", "--allow-net", "--", "python3", "-c", inside], around);
    expect(met).toMatchObject({ code: 0, stdout: "b'x'\n" });
  },
);

/** Starts a program where /run is another one, in which a service listens and the resolver keeps its file. */
const ANOTHER_RUN = `mount -t tmpfs none /run && mkdir -p /run/systemd/resolve &&
echo nameserver > /run/systemd/resolve/stub-resolv.conf && exec python3 -c '
import os, socket, sys
s = socket.socket(socket.AF_UNIX); s.bind("/run/service.sock"); s.listen(); s.set_inheritable(True)
os.execvp(sys.argv[1], sys.argv[1:])' "$@"`;

attempt("E5 reading every file reaches no service below /run", ["python3", "unshare"], async ({ tier, around }) => {
  if (tier === "landlock") return; // It makes the other /run with the namespaces that this tier lacks.
  const wrap = (argv: string[]) => ["unshare", "-Urm", "sh", "-c", ANOTHER_RUN, "sh", ...argv];
  const inRun = (...argv: string[]) => runCordon(["run", ...argv], { ...around, wrap });
  const dial = ["python3", "-c", 'import socket; socket.socket(socket.AF_UNIX).connect("/run/service.sock")'];
  // Proof that the door is there: the same dial from outside arrives. Naming it for reading opens no socket.
  expect(await Bun.spawn(wrap(dial)).exited).toBe(0);
  expect((await inRun("--allow-read=/,/run/service.sock", "--", ...dial)).code).not.toBe(0);
  for (const flag of ["--allow-read=/", "--allow-write=/"]) {
    const end = await inRun(flag, "--", ...dial);
    expect(end.stderr).toMatch(/FileNotFoundError|PermissionError/);
  }
  // The allowed twin: what the resolver's file says is read, with the flag and without.
  for (const flags of [[], ["--allow-read=/"]]) {
    const read = await inRun(...flags, "--", "cat", "/run/systemd/resolve/stub-resolv.conf");
    expect(read).toMatchObject({ code: 0, stdout: "nameserver\n" });
  }
});
