// E4: a server that has made thousands of calls holds no more than one that has made a hundred.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { type Client, startServe } from "../support/serve_client.ts";
import { processesIn } from "../support/traces.ts";
import { waitFor } from "../support/wait_for.ts";
import { PATIENCE_MS, times } from "./length.ts";

const CALLS = times({ short: 300, long: 10_000 });
const WARM_UP = Math.min(100, CALLS / 3);

/** A collector runs when it likes; what is lost with each call would be far above this after thousands. */
const MEMORY_SLACK_KB = times({ short: 60_000, long: 40_000 });

type Held = { descriptors: number; memoryKb: number; threads: number };

function held(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const number = (name: string) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, "m"))?.[1]);
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, memoryKb: number("VmRSS"), threads: number("Threads") };
}

async function callMany(client: Client, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    const answer = await client.call("bash", { command: `echo ${at}` });
    if (answer.output?.stdout !== `${at}\n`) throw new Error(`call ${at} answered ${JSON.stringify(answer)}`);
    client.lines.length = 0;
  }
}

test(
  `E4 a server that made ${CALLS} bash calls holds no more descriptors and memory than after the first ${WARM_UP}`,
  async () => {
    const scratch = makeScratch();
    try {
      const client = await startServe({ scratch, patienceMs: PATIENCE_MS }, ["--mode", "danger-full-access"]);
      await callMany(client, WARM_UP);
      const first = held(client.pid);
      await callMany(client, CALLS - WARM_UP);
      const last = held(client.pid);
      console.log(`serve after ${WARM_UP} and ${CALLS} calls: ${JSON.stringify([first, last])}`);
      expect(last.descriptors).toBeLessThanOrEqual(first.descriptors + 2);
      expect(last.threads).toBeLessThanOrEqual(first.threads + 4);
      expect(last.memoryKb).toBeLessThan(first.memoryKb + MEMORY_SLACK_KB);
      expect((await client.close()).code).toBe(0);
      await waitFor("every process to be gone", () => processesIn(scratch.top).length === 0);
    } finally {
      removeScratch(scratch);
    }
  },
  PATIENCE_MS,
);
