import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 callers that are killed in the middle of a call leave the next ones answered and confined",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
import signal, time
for number in range(150):
    pid = os.fork()
    if pid == 0:
        while True:
            for path in ("own", "${kept}"):
                try: os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
                except OSError: pass
            try: os.rename("own", "other")
            except OSError: pass
    time.sleep(0.001 * (number % 5)); os.kill(pid, signal.SIGKILL); os.waitpid(pid, 0)
open("own", "w").write("own"); print(open("own").read())
try: os.open("${kept}", os.O_WRONLY | os.O_TRUNC); print("OPENED")
except OSError: print("closed")
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: "own\nclosed\n" });
  },
);
