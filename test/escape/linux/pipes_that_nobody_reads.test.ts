import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 a hundred opens that wait for ever hold up no other call", ["python3"], async ({ scratch, python }) => {
  const kept = join(scratch.home, "kept.txt");
  writeFileSync(kept, "kept\n");

  const end = await python(`
import signal
os.mkfifo("pipe")
children = []
for number in range(100):
    pid = os.fork()
    if pid == 0:
        try: os.open("pipe", os.O_WRONLY)
        finally: os._exit(0)
    children.append(pid)
for number in range(200): os.close(os.open(f"own", os.O_WRONLY | os.O_CREAT, 0o600))
print("own")
try: os.open("${kept}", os.O_WRONLY | os.O_TRUNC); print("OPENED")
except OSError: print("closed")
for pid in children: os.kill(pid, signal.SIGKILL)
for pid in children: os.waitpid(pid, 0)
# The allowed twin: with a reader the open ends.
if os.fork() == 0:
    os.write(os.open("pipe", os.O_WRONLY), b"through"); os._exit(0)
print(os.read(os.open("pipe", os.O_RDONLY), 9).decode())
`);
  expect(readFileSync(kept, "utf8")).toBe("kept\n");
  expect(end).toMatchObject({ code: 0, stdout: "own\nclosed\nthrough\n" });
});
