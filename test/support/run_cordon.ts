import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Scratch } from "./scratch.ts";

/** Programs of the system, which every user of the machine can run; a test's tools are looked up here too. */
export const SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** How long a run may take before it is ended; far above what any needs, so that only a hang meets it. */
const PATIENCE_MS = 50_000;

/** The executable under test: $CORDON_BIN or dist/cordon. Throws a sentence that says how to get one. */
export function cordonPath(): string {
  const path = resolve(process.env.CORDON_BIN ?? join(import.meta.dir, "../../dist/cordon"));
  if (!existsSync(path) || !statSync(path).isFile())
    throw new Error(`There is no executable at ${path}: run npm run build, or set CORDON_BIN`);
  return path;
}

/** Where a run happens. `wrap` turns the command line into one for other surroundings (tiers.ts). */
export type Surroundings = {
  scratch: Scratch;
  cwd?: string;
  env?: Record<string, string>;
  wrap?: (argv: string[]) => string[];
  binary?: string;
  /** How long a run may take before it is ended, in milliseconds. */
  patienceMs?: number;
};

/** A started cordon. `finished` collects all output, `exited` is for those who read `stdout` themselves; `kill` signals cordon's own process. */
export type Started = {
  pid: number;
  stdin: Bun.FileSink;
  stdout: ReadableStream<Uint8Array>;
  kill: (signal: NodeJS.Signals) => void;
  exited: () => Promise<Exit>;
  finished: () => Promise<Ended>;
};

/** How it ended: exactly one of `code` and `signal` is set. */
export type Exit = { code: number | null; signal: string | null; stderr: string };

/** The same with all of stdout, as text and as it came. */
export type Ended = Exit & { stdout: string; bytes: Uint8Array };

/** The environment of a run: nothing of the caller's but what is needed to start programs. */
export function scratchEnvironment(
  { home, state }: Scratch,
  more: Record<string, string> = {},
): Record<string, string> {
  return { PATH: SYSTEM_PATH, HOME: home, CORDON_STATE_DIR: state, LANG: "C.UTF-8", ...more };
}

/** Starts cordon with stdin, stdout and stderr as pipes. It is ended when it outstays `PATIENCE_MS`. */
export function startCordon(args: string[], around: Surroundings): Started {
  const argv = [around.binary ?? cordonPath(), ...args];
  const child = Bun.spawn(around.wrap ? around.wrap(argv) : argv, {
    cwd: around.cwd ?? around.scratch.work,
    env: scratchEnvironment(around.scratch, around.env),
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), around.patienceMs ?? PATIENCE_MS);
  const stderr = new Response(child.stderr).text();
  // Bun's types allow a descriptor number here for other kinds of stdin; "pipe" gives a sink.
  const { stdin, stdout } = child;
  const exited = async () => {
    await child.exited;
    clearTimeout(timer);
    return { code: child.exitCode, signal: signalOf(child.signalCode), stderr: await stderr };
  };
  return {
    pid: child.pid,
    stdin,
    stdout,
    kill: (signal) => child.kill(signal),
    exited,
    finished: async () => {
      const bytes = await new Response(stdout).bytes();
      return { ...(await exited()), stdout: new TextDecoder().decode(bytes), bytes };
    },
  };
}

/** Bun's type allows numbers here; what it gives is a name or null. */
function signalOf(code: number | string | null): string | null {
  return code === null ? null : String(code);
}

/** Runs cordon to its end; `stdin` is its whole input. */
export async function runCordon(args: string[], around: Surroundings, stdin: string | Uint8Array = ""): Promise<Ended> {
  const started = startCordon(args, around);
  // Written while output is read: with more than a pipe holds, one after the other would wait for ever.
  const write = async () => {
    try {
      started.stdin.write(stdin);
      await started.stdin.end();
    } catch {
      // A command that ends without reading its input is no error.
    }
  };
  const [ended] = await Promise.all([started.finished(), write()]);
  return ended;
}

/** `cordon run -- sh -c SCRIPT`. */
export function runShell(script: string, around: Surroundings, flags: string[] = []): Promise<Ended> {
  return runCordon(["run", ...flags, "--", "sh", "-c", script], around);
}

/** Whether the system has all of these programs; otherwise the names of those it lacks. */
export function missingPrograms(names: readonly string[]): string[] {
  return names.filter((name) => Bun.which(name, { PATH: SYSTEM_PATH }) === null);
}
