/**
 * `bun bash_in_serve.ts serve|spawn|memory CORDON`: prints the median milliseconds of `true` as a bash call of one `cordon serve`, or
 * as a bare spawn of bash; or the megabytes that a serve holds after a call. Runs in the working folder.
 */
import { quantile } from "./alternate.ts";
import { residentMb } from "./resident.ts";

const CALLS = 15;

/** Calls that compile code and fill caches. */
const WARM_UP = 3;

const [way, cordon = ""] = process.argv.slice(2);

async function bare(): Promise<void> {
  const child = Bun.spawn(["bash", "-c", "true"], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
}

function startServe() {
  const child = Bun.spawn([cordon, "serve", "--mode", "allow"], { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
  const lines = linesOf(child.stdout);
  const call = async () => {
    child.stdin.write(`${JSON.stringify({ id: "1", tool: "bash", input: { command: "true" } })}\n`);
    child.stdin.flush();
    for (let next = await lines.next(); !next.done; next = await lines.next()) {
      const message: { type: string; ok?: boolean } = JSON.parse(next.value);
      if (message.type !== "result") continue;
      if (message.ok !== true) throw new Error(next.value);
      return;
    }
    throw new Error("cordon serve ended");
  };
  const close = async () => {
    child.stdin.end();
    await child.exited;
  };
  return { pid: child.pid, call, close };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

async function medianOf(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < CALLS + WARM_UP; turn++) {
    const begin = performance.now();
    await call();
    if (turn >= WARM_UP) times.push(performance.now() - begin);
  }
  return quantile(times, 0.5);
}

if (way === "spawn") console.log(await medianOf(bare));
else {
  const serve = startServe();
  if (way === "memory") {
    await serve.call();
    console.log(residentMb(serve.pid));
  } else console.log(await medianOf(serve.call));
  await serve.close();
}
