import { type Exit, startCordon, type Surroundings } from "./run_cordon.ts";
import { waitFor } from "./wait_for.ts";

/** What the tests look at in the output of a tool. */
type Output = {
  stdout?: string;
  content?: string;
  filenames?: string[];
  appliedLimit?: number;
  droppedBytes?: number;
  sandboxStatus?: { tier: string };
};

/** One line of the server, or the result of a call, with the fields that the tests look at. */
export type Line = {
  type?: string;
  id?: string;
  ok?: boolean;
  tools?: { name: string }[];
  error?: { code: string; message: string; hint?: string; details?: unknown };
  output?: Output;
  meta?: { coercions?: unknown[]; denials?: unknown[]; droppedBytes?: number };
};

/** A conversation with `cordon serve`. */
export type Client = {
  pid: number;
  /** Everything that came so far, in order. */
  lines: Line[];
  /** Sends bytes as they are. */
  raw: (bytes: string | Uint8Array) => Promise<void>;
  /** Sends one message as a line. */
  send: (message: unknown) => Promise<void>;
  /** Waits for a line that has these fields, among those that came already too. */
  wait: (fields: Record<string, unknown>) => Promise<Line>;
  /** Sends a call and waits for its result. */
  call: (tool: string, input: unknown, more?: object) => Promise<Line>;
  kill: (signal: NodeJS.Signals) => void;
  /** Closes stdin and waits for the end. Throws when a line of stdout was not JSON. */
  close: () => Promise<Exit>;
};

/** Starts `cordon serve` and waits for its ready line. */
export async function startServe(around: Surroundings, flags: string[] = []): Promise<Client> {
  const started = startCordon(["serve", ...flags], around);
  const lines: Line[] = [];
  const reading = readLines(started.stdout, lines);
  let calls = 0;
  const raw = async (bytes: string | Uint8Array) => {
    started.stdin.write(bytes);
    await started.stdin.flush();
  };
  const send = (message: unknown) => raw(`${JSON.stringify(message)}\n`);
  const wait = (fields: Record<string, unknown>) =>
    waitFor(`a line with ${JSON.stringify(fields)}`, () => lines.find((line) => hasFields(line, fields)));
  const client: Client = {
    pid: started.pid,
    lines,
    raw,
    send,
    wait,
    call: async (tool, input, more = {}) => {
      const id = `auto-${++calls}`;
      await send({ id, tool, input, ...more });
      return wait({ id, type: "result" });
    },
    kill: started.kill,
    close: async () => {
      await started.stdin.end();
      await reading;
      return started.exited();
    },
  };
  await wait({ type: "ready" });
  return client;
}

function hasFields(line: Line, fields: Record<string, unknown>): boolean {
  const found: Record<string, unknown> = { ...line };
  return Object.entries(fields).every(([name, value]) => found[name] === value);
}

async function readLines(stdout: ReadableStream<Uint8Array>, lines: Line[]): Promise<void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const chunk of stdout) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) lines.push(JSON.parse(part));
  }
  if (rest !== "") throw new Error(`stdout ended in the middle of a line: ${rest.slice(0, 200)}`);
}
