/**
 * D6: a server that has searched a hundred thousand times holds no more than after the first thousands, while files change. CORDON_SEARCHES says
 * how often (default 3,000).
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startQuickClient } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { dice, makeChangingTree, WORDS } from "./changing_tree.ts";

const SEARCHES = Number(process.env.CORDON_SEARCHES ?? 3000);
const PATIENCE_MS = 120_000 + SEARCHES * 40;
const SEED = 5;

/** By then the compiler and the collector have found their pace. */
const WARM_UP = Math.min(SEARCHES / 3, 10_000);

/** What is held is looked at once more on the way. */
const MIDDLE = SEARCHES / 2;

/** A collector runs when it likes; what is lost with each search would be far above this after tens of thousands. */
const SLACK_KB = 60_000;

/** So often a file is changed, and a pattern that nothing has matched is asked for. */
const CHANGE_EVERY = 5;

type Held = { memoryKb: number; descriptors: number; threads: number };

function held(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const number = (name: string) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, "m"))?.[1]);
  return { memoryKb: number("VmRSS"), descriptors: readdirSync(`/proc/${pid}/fd`).length, threads: number("Threads") };
}

test(
  `D6 ${SEARCHES} searches with an index that is kept true hold no more memory than the first ${WARM_UP}`,
  async () => {
    const scratch = makeScratch();
    try {
      makeChangingTree(scratch.top, SEED);
      const roll = dice(SEED);
      const client = startQuickClient({ scratch, patienceMs: PATIENCE_MS });
      const used = { count: 0 };
      const search = async (at: number) => {
        if (at % CHANGE_EVERY === 0)
          writeFileSync(join(scratch.work, "tree", `part${roll(30)}`, `m${roll(40)}.ts`), `line ${at}\n`);
        const pattern =
          at % CHANGE_EVERY === 1 ? `never${at}` : (WORDS[roll(WORDS.length)] ?? "abc").replace(/[()]/g, "\\$&");
        const { ok, meta } = await client.call("grep_search", {
          pattern,
          path: "tree",
          output_mode: at % 2 === 0 ? "content" : "count",
        });
        expect(ok).toBe(true);
        if (meta.index?.state === "used") used.count += 1;
      };
      const marks: Held[] = [];
      for (const [from, to] of [
        [0, WARM_UP],
        [WARM_UP, MIDDLE],
        [MIDDLE, SEARCHES],
      ] as const) {
        for (let at = from; at < to; at += 1) await search(at);
        marks.push(held(client.pid));
        console.info(`serve after ${to} searches: ${JSON.stringify(marks.at(-1))}, index used in ${used.count}`);
      }
      const [first, , last] = marks;
      if (first === undefined || last === undefined) throw new Error("nothing was measured");
      expect(used.count).toBeGreaterThan(SEARCHES / 2);
      expect(last.memoryKb).toBeLessThan(first.memoryKb + SLACK_KB);
      expect(last.descriptors).toBeLessThanOrEqual(first.descriptors + 2);
      expect(last.threads).toBeLessThanOrEqual(first.threads + 2);
      expect((await client.close()).code).toBe(0);
    } finally {
      removeScratch(scratch);
    }
  },
  PATIENCE_MS,
);
