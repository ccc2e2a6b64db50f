import type { Cli } from "./command.ts";
import { VERSION } from "./version.ts";

/**
 * What is wrapped around other people's commands, or stands where they would else call a small program: it goes past citty,
 * which takes 3 to 7 ms (commands/run.ts has the figures).
 */
const EARLY: Readonly<Record<string, () => Promise<(words: readonly string[], cli: Cli) => Promise<number>>>> = {
  run: async () => (await import("./commands/run.ts")).command.run,
  grep: async () => (await import("./commands/grep.ts")).command.run,
  glob: async () => (await import("./commands/glob.ts")).command.run,
};

/** The number of /dev/null on Linux: 1, 3 (Documentation/admin-guide/devices.txt). Stands here because nothing below the start is evaluated before its end. */
const DEV_NULL = 0x103;

const args = process.argv.slice(2);
if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) console.log(`cordon ${VERSION}`);
// Everything is written by now; an open stdin that nobody reads any more must not hold the process.
else process.exit(await start());

/** Everything below is loaded late: a program that only prints its version must not pay for it. */
async function start(): Promise<number> {
  const cli = {
    world: {
      argv: args,
      program: process.execPath,
      env: definedOnly(process.env),
      cwd: process.cwd(),
      pid: process.pid,
      platform: process.platform,
      uid: process.geteuid?.() ?? -1,
      gid: process.getegid?.() ?? -1,
      get stdinIsTty() {
        return isTty(0);
      },
    },
    isTty,
    onSignal,
  };
  const [name = "", ...words] = args;
  const early = EARLY[name];
  // The executable starts reluctant to compile JavaScript (cli/build/bundle.ts), which is right for what is early and wrong for all others.
  if (early === undefined) Bun.unsafe.setJITPolicy(1);
  if (name === "grep" || name === "glob") {
    const { bringUpSearch } = await import("@cordon/core/engine/ahead");
    bringUpSearch(name === "grep" && words.every(isWord) ? "a word" : "anything");
  }
  const { runGuarded } = await import("./run_guarded.ts");
  return runGuarded(cli, async () =>
    early ? (await early())(words, cli) : (await import("./command_line.ts")).runCommandLine(args, cli),
  );
}

/** Letters and what has no meaning in a pattern, or a flag that only says what is shown. If that is wrong it costs time and nothing else. */
function isWord(text: string): boolean {
  return /^(-[lnHIc]+|[./]*|(?!-)[\w /:,;=<>"'@%&~#-]+)$/.test(text);
}

/** Asked late and seldom: to load node:tty takes 4 ms in a compiled executable (Bun 1.4.5), as much as an empty program. */
function isTty(fd: 0 | 1 | 2): boolean {
  return isCharacterDevice(fd) && process.getBuiltinModule("node:tty").isatty(fd);
}

/** What a terminal is, and a pipe, a file or /dev/null is not. */
function isCharacterDevice(fd: 0 | 1 | 2): boolean {
  try {
    const found = process.getBuiltinModule("node:fs").fstatSync(fd);
    return found.isCharacterDevice() && !(process.platform === "linux" && found.rdev === DEV_NULL);
  } catch {
    return false;
  }
}

function definedOnly(env: NodeJS.ProcessEnv): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) out[name] = value;
  return out;
}

function onSignal(names: readonly string[], listener: (name: string) => void): () => void {
  for (const name of names) process.on(name, listener);
  return () => {
    for (const name of names) process.off(name, listener);
  };
}
