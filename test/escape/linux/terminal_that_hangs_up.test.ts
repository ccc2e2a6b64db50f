import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a terminal that the command opens and hangs up ends nothing but its own programs",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");
    const end = await python(`
import pty, signal, time
for _ in range(3):
    primary, secondary = pty.openpty(); name = os.ttyname(secondary); os.close(secondary)
    if os.fork() == 0:
        os.setsid(); signal.signal(signal.SIGHUP, signal.SIG_IGN)
        fd = os.open(name, os.O_RDWR); os.write(fd, b"x"); time.sleep(0.05); os._exit(0)
    time.sleep(0.02); os.close(primary)
    os.wait()
open("own", "w").write("own"); print(open("own").read())
try: open("${kept}", "w"); print("OPENED")
except OSError: print("closed")
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: "own\nclosed\n" });
  },
);
