/** Starts the tools that build things: quiet while they work, a sign of life every 15 s, the end of their output when they fail. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { logFolder } from "./cache.ts";
import { BuildError, say, seconds } from "./progress.ts";

/** One start of a tool. `env` is laid over ours; undefined removes a variable. `timeoutMs` has no limit when left out. */
export type ToolRun = {
  what: string;
  argv: [string, ...string[]];
  cwd?: string;
  env?: Record<string, string | undefined>;
  timeoutMs?: number;
};

/** How a tool ended. `output` is stdout and stderr in the order in which they came. */
export type ToolEnd = { exitCode: number; output: string; log: string };

const LIFE_SIGN_MS = 15_000;
const SHOWN_LINES = 40;

/** Runs a tool to its end. Throws a BuildError with the last lines of its output when it fails. */
export async function runTool(run: ToolRun): Promise<ToolEnd> {
  const end = await tryTool(run);
  if (end.exitCode === 0) return end;
  const tail = end.output.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  throw new BuildError(
    `${run.what} failed with exit code ${end.exitCode}: ${run.argv.join(" ")}\n${tail}\nThe whole output is in ${end.log}`,
  );
}

/** Runs a tool to its end and returns how it ended, whatever the exit code. 127 when it can't be started. */
export async function tryTool(run: ToolRun): Promise<ToolEnd> {
  mkdirSync(logFolder(), { recursive: true });
  const log = join(logFolder(), `${run.what.replaceAll(/[^a-z0-9]+/gi, "_")}.log`);
  writeFileSync(log, `${run.argv.join(" ")}\n`);
  const started = performance.now();
  const child = start(run);
  if (typeof child === "string") return { exitCode: 127, output: child, log };
  let output = "";
  const take = (text: string) => {
    output += text;
    appendFileSync(log, text);
  };
  const timer = setInterval(() => {
    const last = output.trimEnd().split("\n").at(-1)?.trim() ?? "";
    say(`        … ${run.what}, ${seconds(performance.now() - started)}: ${last.slice(0, 100)}`);
  }, LIFE_SIGN_MS);
  try {
    await Promise.all([drain(child.stdout, take), drain(child.stderr, take)]);
    return { exitCode: await child.exited, output, log };
  } finally {
    clearInterval(timer);
  }
}

/** What a short tool printed on stdout, trimmed; undefined when it failed or is missing. */
export function ask(argv: [string, ...string[]], env: Record<string, string | undefined> = {}): string | undefined {
  try {
    const end = Bun.spawnSync(argv, { stdin: "ignore", stderr: "ignore", env: { ...process.env, ...env } });
    return end.success ? end.stdout.toString().trim() : undefined;
  } catch {
    return undefined; // not installed
  }
}

function start(run: ToolRun) {
  try {
    return Bun.spawn(run.argv, {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: { ...process.env, ...run.env },
      ...(run.cwd === undefined ? {} : { cwd: run.cwd }),
      ...(run.timeoutMs === undefined ? {} : { timeout: run.timeoutMs }),
    });
  } catch (error) {
    return String(error);
  }
}

async function drain(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}
