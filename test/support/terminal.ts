import { cordonPath, scratchEnvironment, SYSTEM_PATH, type Surroundings } from "./run_cordon.ts";

/**
 * Plays a person at a terminal: starts argv[2:] on a new pseudo-terminal, waits until its output holds argv[1], types the
 * bytes of stdin, and prints everything that came out. Ends as the program did.
 */
const PERSON = `
import os, pty, select, sys, time
wanted, typed, seen, sent = sys.argv[1].encode(), sys.stdin.buffer.read(), b"", False
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
end = time.time() + 40
while time.time() < end:
    if select.select([fd], [], [], 0.1)[0]:
        try: got = os.read(fd, 65536)
        except OSError: break
        if not got: break
        seen += got
    if not sent and wanted in seen:
        sent = True
        os.write(fd, typed)
else:
    os.kill(pid, 9)
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 200)
`;

/** Runs cordon on a pseudo-terminal; types `keys` once `after` was shown. Needs python3. Returns what the terminal showed. */
export function runAtTerminal(
  args: string[],
  around: Surroundings,
  { after, keys }: { after: string; keys: string },
): { code: number; shown: string } {
  const argv = [cordonPath(), ...args];
  const end = Bun.spawnSync(["python3", "-c", PERSON, after, ...(around.wrap ? around.wrap(argv) : argv)], {
    cwd: around.scratch.work,
    env: { ...scratchEnvironment(around.scratch, around.env), PATH: SYSTEM_PATH, TERM: "dumb" },
    stdin: Buffer.from(keys),
  });
  return { code: end.exitCode, shown: end.stdout.toString() + end.stderr.toString() };
}
