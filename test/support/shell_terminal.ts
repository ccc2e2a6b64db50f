import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cordonPath, scratchEnvironment, SYSTEM_PATH, type Surroundings } from "./run_cordon.ts";

/** What a person does: waits for words on the screen, later than those of the step before, and types or changes its size. */
export type TerminalStep = { after: string; type: string; resize?: [rows: number, columns: number] };

/** Plays the steps (stdin, as JSON) at argv[1:] on a new pseudo-terminal of 24 rows and 80 columns; exit code 0 when all were done. */
const PERSON = `
import fcntl, json, os, pty, select, struct, sys, termios, time
steps, seen, at, done = json.load(sys.stdin), b"", 0, 0
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
def size(rows, columns): fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
def pump():
    global seen
    if not select.select([fd], [], [], 0.1)[0]: return True
    try: got = os.read(fd, 65536)
    except OSError: return False
    seen += got
    return got != b""
size(24, 80)
end = time.time() + 40
open_ = True
for step in steps:
    wanted = step["after"].encode()
    while wanted not in seen[at:] and open_ and time.time() < end: open_ = pump()
    if wanted not in seen[at:]: break
    at = seen.index(wanted, at) + len(wanted)
    done += 1
    # A shell that has just shown its prompt may not read yet.
    time.sleep(0.2)
    if step.get("resize"): size(*step["resize"])
    if step["type"]: os.write(fd, step["type"].encode())
while done == len(steps) and open_ and time.time() < end: open_ = pump()
try: os.kill(pid, 1)
except OSError: pass
os.close(fd)
sys.stdout.buffer.write(seen)
sys.exit(0 if done == len(steps) else 1)
`;

/** Runs the steps in an interactive bash whose prompt is "READY> " and which knows cordon as $CORDON. Needs python3 and bash. */
export function shellAtTerminal(around: Surroundings, steps: TerminalStep[]): { finished: boolean; shown: string } {
  const settings = join(around.scratch.top, "bashrc");
  writeFileSync(settings, "PS1='READY> '\nbind 'set enable-bracketed-paste off'\n");
  const shell = ["bash", "--rcfile", settings, "-i"];
  const end = Bun.spawnSync(["python3", "-c", PERSON, ...(around.wrap ? around.wrap(shell) : shell)], {
    cwd: around.scratch.work,
    env: {
      ...scratchEnvironment(around.scratch, around.env),
      PATH: SYSTEM_PATH,
      TERM: "dumb",
      CORDON: cordonPath(),
    },
    stdin: Buffer.from(JSON.stringify(steps)),
  });
  return { finished: end.exitCode === 0, shown: end.stdout.toString() + end.stderr.toString() };
}
