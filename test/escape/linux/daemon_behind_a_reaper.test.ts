import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { processesWith, uniqueSleep } from "../../support/processes.ts";

attempt(
  "E5 a process that makes itself reaper, leader and orphan at once ends with the command",
  ["python3"],
  async ({ python }) => {
    const mark = uniqueSleep();
    const end = await python(`
libc.prctl(36, 1, 0, 0, 0)
for _ in range(5):
    if os.fork() == 0:
        os.setsid(); libc.prctl(36, 1, 0, 0, 0); libc.prctl(1, 0, 0, 0, 0)
        if os.fork() == 0:
            import signal
            for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)
            os.setpgid(0, 0); os.execvp("sleep", ["sleep", "${mark}"])
        os._exit(0)
print("own")
`);
    expect(end).toMatchObject({ code: 0, stdout: "own\n" });
    expect(processesWith(mark)).toEqual([]);
  },
);
