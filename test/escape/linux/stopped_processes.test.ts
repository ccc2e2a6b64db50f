import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { processesWith, uniqueSleep } from "../../support/processes.ts";

attempt(
  "E5 processes that are stopped, and stop one another, end with the command",
  ["python3"],
  async ({ python }) => {
    const mark = uniqueSleep();
    const end = await python(`
import signal, time
for _ in range(3):
    pid = os.fork()
    if pid == 0: os.execvp("sleep", ["sleep", "${mark}"])
    os.kill(pid, signal.SIGSTOP)
try: os.kill(os.getppid(), signal.SIGSTOP)
except OSError: pass
print("own")
`);
    expect(end).toMatchObject({ code: 0, stdout: "own\n" });
    expect(processesWith(mark)).toEqual([]);
  },
);
