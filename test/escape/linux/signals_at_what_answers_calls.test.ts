import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt(
  "E5 no signal ends or stops cordon's own processes; confinement and answers go on",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
import signal
for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGSEGV, signal.SIGPWR, signal.SIGUSR1, signal.SIGCHLD, signal.SIGTSTP):
    for pid in (1, os.getppid()):
        try: os.kill(pid, number)
        except OSError: pass
        call(${callNumber("tgkill")}, pid, pid, number)
        fd = call(${callNumber("pidfd_open")}, pid, 0)
        if fd >= 0: call(${callNumber("pidfd_send_signal")}, fd, number, 0, 0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
try: os.kill(-1, signal.SIGTERM)
except OSError: pass
try: os.kill(0, signal.SIGTERM)
except OSError: pass
open("own", "w").write("own"); print(open("own").read())
try: open("${kept}", "w"); print("OPENED")
except OSError: print("closed")
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    // The allowed twin is in it: after all that its own files are written as before.
    expect(end.code).toBe(0);
    expect(end.stdout).toContain("own\nclosed\n");
  },
);
