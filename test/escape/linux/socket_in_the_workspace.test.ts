import { expect } from "bun:test";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

/** Listens on the host at a path of the workspace; counts who comes. */
function listen(path: string): { count: () => number; stop: () => void } {
  let connections = 0;
  const server = Bun.listen({ unix: path, socket: { open: () => void connections++, data: () => {} } });
  return { count: () => connections, stop: () => server.stop(true) };
}

const dial = (path: string) => `import socket; socket.socket(socket.AF_UNIX).connect("${path}"); print("met")`;

attempt(
  "E4 a Unix socket that a host process has opened inside the workspace can't be reached without a grant",
  ["python3"],
  async ({ scratch, around, python }) => {
    const path = join(scratch.work, "host.sock");
    const host = listen(path);
    try {
      for (const name of [path, "host.sock", "./host.sock", "/proc/self/cwd/host.sock", `/proc/self/root${path}`]) {
        const end = await python(dial(name));
        expect(end.code).not.toBe(0);
        expect(end.stderr).toContain("PermissionError");
        expect(end.stderr).toContain(`--allow-unix=${path}`);
      }
      expect(host.count()).toBe(0);
      // The allowed twin.
      const met = await runCordon(["run", `--allow-unix=${path}`, "--", "python3", "-c", dial("host.sock")], around);
      expect(met).toMatchObject({ code: 0, stdout: "met\n" });
      expect(host.count()).toBe(1);
    } finally {
      host.stop();
    }
  },
);

attempt(
  "E4 another name of a host's Unix socket, by rename, link or symlink, does not open it",
  ["python3"],
  async ({ scratch, around }) => {
    const [closed, granted] = [join(scratch.work, "closed.sock"), join(scratch.work, "granted.sock")];
    const hosts = [listen(closed), listen(granted)];
    try {
      const script = `import os, socket
def dial(name):
    try: socket.socket(socket.AF_UNIX).connect(name); return "met"
    except PermissionError: return "refused"
os.symlink("closed.sock", "symlink"); os.link("closed.sock", "link"); print(dial("symlink"), dial("link"))
own = socket.socket(socket.AF_UNIX); own.bind("own.sock"); own.listen()
os.rename("closed.sock", "own.sock"); print(dial("own.sock"))
os.rename("granted.sock", "elsewhere"); os.rename("own.sock", "granted.sock"); print(dial("granted.sock"), dial("elsewhere"))`;
      const end = await runCordon(["run", `--allow-unix=${granted}`, "--", "python3", "-c", script], around);
      expect(end.stdout).toBe("refused refused\nrefused\nrefused met\n");
      expect(hosts.map((host) => host.count())).toEqual([0, 1]);
    } finally {
      for (const host of hosts) host.stop();
    }
  },
);
