// E4, E5: what a process in the sandbox can't do to the kernel and to the processes of the host, in both tiers.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { missingPrograms, runCordon, runShell } from "../support/run_cordon.ts";
import { describeEachTier, type TierPlace } from "../support/each_tier.ts";

const python = missingPrograms(["python3"]).length === 0;

describeEachTier((place) => {
  describePrivileges(place);
  describeSystemCalls(place);
  describeHost(place);
});

function describePrivileges({ around }: TierPlace): void {
  test("E5 the command has no capability and can't gain one", async () => {
    const end = await runShell("grep -E '^(NoNewPrivs|Cap(Eff|Prm|Inh|Bnd|Amb)|Seccomp):' /proc/self/status", around);
    const rows = Object.fromEntries(
      end.stdout
        .trim()
        .split("\n")
        .map((line) => line.split(/:\s*/)),
    );
    const none = "0".repeat(16);
    expect(rows).toMatchObject({
      NoNewPrivs: "1",
      Seccomp: "2",
      CapEff: none,
      CapPrm: none,
      CapInh: none,
      CapAmb: none,
    });
  });
  test("E5 settings of the kernel can't be written, not by root either", async () => {
    for (const name of ["core_pattern", "hostname", "panic"]) {
      const setting = `/proc/sys/kernel/${name}`;
      const before = readFileSync(setting, "utf8");
      // The very value that stands there: a hole must not break the machine that finds it.
      const end = await runCordon(["run", "--", "sh", "-c", 'printf %s "$1" > "$2"', "sh", before, setting], around);
      expect(end.code).not.toBe(0);
      expect(readFileSync(setting, "utf8")).toBe(before);
    }
  });
  test("E5 unshare -U and mount are refused, in any combination", async () => {
    const tries = [
      "unshare -U true",
      "unshare -Urm true",
      "unshare -m true",
      "mount -t tmpfs none /tmp",
      "mount --bind / /mnt",
    ];
    for (const attempt of tries) expect((await runShell(attempt, around)).code).not.toBe(0);
    expect((await runShell('mkdir /tmp/of-mine && touch /tmp/of-mine/file || touch "$TMPDIR/file"', around)).code).toBe(
      0,
    );
  });
}

/** Numbers of the calls on x86-64 and arm64 (their asm/unistd.h). */
const CALLS: Readonly<Record<string, { x64: number; arm64: number; args: string; errnos: RegExp }>> = {
  "keyctl reading the session keyring": { x64: 250, arm64: 219, args: "0, -3, 0", errnos: /EPERM|ENOSYS|EACCES/ },
  add_key: { x64: 248, arm64: 217, args: 'b"user", b"x", b"y", 1, -3', errnos: /EPERM|ENOSYS|EACCES/ },
  io_uring_setup: { x64: 425, arm64: 425, args: "8, ctypes.create_string_buffer(120)", errnos: /EPERM|ENOSYS/ },
  bpf: { x64: 321, arm64: 280, args: "0, ctypes.create_string_buffer(128), 128", errnos: /EPERM|ENOSYS/ },
  perf_event_open: {
    x64: 298,
    arm64: 241,
    args: "ctypes.create_string_buffer(128), 0, -1, -1, 0",
    errnos: /EPERM|ENOSYS/,
  },
  "clone3 into a user namespace": {
    x64: 435,
    arm64: 435,
    args: "(ctypes.c_uint64 * 11)(0x10000000), 88",
    errnos: /EPERM|ENOSYS/,
  },
  "setns to the host's init": {
    x64: 308,
    arm64: 268,
    args: "os.open('/proc/self/ns/user', 0), 0",
    errnos: /EPERM|ENOSYS|EINVAL/,
  },
  open_by_handle_at: { x64: 304, arm64: 265, args: "-100, (ctypes.c_int * 4)(8, 1, 2, 0), 0", errnos: /EPERM|ENOSYS/ },
};

function describeSystemCalls({ around }: TierPlace): void {
  for (const [name, call] of Object.entries(CALLS)) {
    const number = process.arch === "arm64" ? call.arm64 : call.x64;
    test.skipIf(!python)(`E5 ${name} is refused`, async () => {
      const script = `import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
end = libc.syscall(${number}, ${call.args})
print(end, errno.errorcode.get(ctypes.get_errno()))`;
      const end = await runCordon(["run", "--", "python3", "-c", script], around);
      expect(end.code).toBe(0);
      expect(end.stdout).toStartWith("-1 ");
      expect(end.stdout).toMatch(call.errnos);
    });
  }
}

function describeHost({ scratch, around, tier }: TierPlace): void {
  test("E4 a process of the host can't be seen, read or signalled", async () => {
    const host = process.pid;
    const read = await runShell(`cat /proc/${host}/environ`, around);
    expect(read.code).not.toBe(0);
    expect(read.stdout).toBe("");
    expect((await runShell(`kill -0 ${host}`, around)).code).not.toBe(0);
    const listed = await runShell(`test -d /proc/${host} && echo seen`, around);
    if (tier === "namespaces") expect(listed.stdout).toBe("");
    expect((await runShell("kill -0 $$ && test -d /proc/$$ && echo own", around)).stdout).toBe("own\n");
  });
  test.skipIf(!python)("E4 a Unix socket of the host is out of reach, one of the command's own works", async () => {
    let connections = 0;
    const path = join(scratch.top, "host.sock");
    const server = Bun.listen({ unix: path, socket: { open: () => void connections++, data: () => {} } });
    try {
      const dial = `import socket; socket.socket(socket.AF_UNIX).connect("${path}")`;
      expect((await runCordon(["run", "--", "python3", "-c", dial], around)).code).not.toBe(0);
      expect(connections).toBe(0);
    } finally {
      server.stop(true);
    }
    const pair = `import socket; a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))`;
    expect(await runCordon(["run", "--", "python3", "-c", pair], around)).toMatchObject({ code: 0, stdout: "b'x'\n" });
    const own = `import socket
s = socket.socket(socket.AF_UNIX); s.bind("own.sock"); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect("own.sock")
import os; os.unlink("own.sock"); print("met")`;
    expect(await runCordon(["run", "--", "python3", "-c", own], around)).toMatchObject({ code: 0, stdout: "met\n" });
  });
}
