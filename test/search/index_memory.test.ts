/**
 * D6: a server that has searched a hundred thousand times holds no more than after the first thousands, while files change and each search may be
 * another one. 1,500 searches are made, 100,000 in `npm run soak`; CORDON_SEARCHES says another number.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startQuickClient, type QuickClient } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { waitFor } from "../support/wait_for.ts";
import { times } from "../soak/length.ts";
import { Asker, inputOf, type Roll } from "./asked.ts";
import { ChangingPlace, changeOnce, dice, makeChangingTree, WORDS } from "./changing_tree.ts";

const SEARCHES = Number(process.env.CORDON_SEARCHES ?? times({ short: 1500, long: 100_000 }));
const PATIENCE_MS = 120_000 + SEARCHES * 40;
const SEED = 5;

/** So often a file is changed, and a pattern is asked for that was not asked before. */
const CHANGE_EVERY = 5;

/** So often memory is looked at, and so often a line says how far it is. */
const LOOK_EVERY = 10;
const TOLD_EVERY = 5000;

/** In a tenth of the searches the compiler and the collector find their pace; the next tenth is what the last one is compared with. */
const TENTH = SEARCHES / 10;

/** A collector runs when it likes, so one median differs from another; what is lost with each search would be far above this after tens of thousands. */
const MOST_GROWTH = 1.2;

type Held = { memoryKb: number; descriptors: number; threads: number };

function held(pid: number): Held {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const number = (name: string) => Number(status.match(new RegExp(`^${name}:\\s+(\\d+)`, "m"))?.[1]);
  return { memoryKb: number("VmRSS"), descriptors: readdirSync(`/proc/${pid}/fd`).length, threads: number("Threads") };
}

/** What is held, from the first search on, and how many answers came from the index. */
class Course {
  readonly #pid: number;
  readonly #looks: { at: number; held: Held }[] = [];
  readonly #begun = performance.now();
  used = 0;

  constructor(pid: number) {
    this.#pid = pid;
  }

  look(at: number): void {
    this.#looks.push({ at, held: held(this.#pid) });
    if (at % TOLD_EVERY !== 0) return;
    const seconds = ((performance.now() - this.#begun) / 1000).toFixed(0);
    const memory = `${(this.memoryKb(at - TOLD_EVERY, at) / 1024).toFixed(0)} MB (median of the last ${TOLD_EVERY})`;
    const { descriptors, threads } = held(this.#pid);
    console.info(
      `${at} of ${SEARCHES} searches: ${memory}, ${descriptors} descriptors, ${threads} threads; ${this.used} from the index; ${seconds} s`,
    );
  }

  /** The median of what was held after some searches and before others. */
  memoryKb(from: number, to: number): number {
    const within = this.#looks.filter(({ at }) => at > from && at <= to).map((look) => look.held.memoryKb);
    return within.sort((one, other) => one - other)[within.length >> 1] ?? Number.NaN;
  }

  most(what: "descriptors" | "threads", from: number, to: number): number {
    return Math.max(...this.#looks.filter(({ at }) => at > from && at <= to).map((look) => look.held[what]));
  }
}

/** Asks for what was not asked before, or what the asker thinks of. Returns whether the answer is from the index. */
async function searchOnce(
  client: QuickClient,
  at: number,
  { asker, roll }: { asker: Asker; roll: Roll },
): Promise<boolean> {
  const asked = asker.next();
  const { tool } = asked;
  const word = (WORDS[roll(WORDS.length)] ?? "abc").replace(/[()]/g, "\\$&");
  const isNew = at % CHANGE_EVERY === 1;
  const pattern = roll(2) === 0 ? `never${at}` : `(${word}|new${at})`;
  const usual = inputOf(asked);
  const input = isNew && tool === "grep_search" ? { ...usual, pattern } : usual;
  const { ok, error, meta } = await client.call(tool, input);
  // A folder that a change has taken away is no place to start at.
  if (!ok && error?.code !== "fs.not_found") throw new Error(JSON.stringify(error));
  return meta.index?.state === "used";
}

test(
  `D6 in ${SEARCHES} searches with an index that is kept true the memory of the last tenth is that of the second`,
  async () => {
    const scratch = makeScratch();
    try {
      makeChangingTree(scratch.top, SEED);
      const tree = join(scratch.work, "tree");
      const roll = dice(SEED);
      const [place, parts] = [new ChangingPlace(scratch.top, roll), { asker: new Asker(tree, roll), roll }];
      const client = startQuickClient({ scratch, patienceMs: PATIENCE_MS });
      const isUsed = async () =>
        (await client.call("grep_search", { pattern: "needle", path: tree })).meta.index?.state === "used";
      await waitFor("the index to be used", isUsed);
      const course = new Course(client.pid);
      // Two at a time, as agents ask too: one is read and written while the other is searched.
      let earlier = Promise.resolve(false);
      for (let at = 1; at <= SEARCHES; at += 1) {
        if (at % CHANGE_EVERY === 0) changeOnce(place);
        const next = searchOnce(client, at, parts);
        if (await earlier) course.used += 1;
        earlier = next;
        if (at % LOOK_EVERY === 0) course.look(at);
      }
      if (await earlier) course.used += 1;
      const [second, last] = [
        [TENTH, 2 * TENTH],
        [SEARCHES - TENTH, SEARCHES],
      ] as const;
      const [before, after] = [course.memoryKb(...second), course.memoryKb(...last)];
      console.info(`memory of the second tenth ${before} KB, of the last ${after} KB; ${course.used} from the index`);
      expect(course.used).toBeGreaterThan(SEARCHES * 0.9);
      expect(after).toBeLessThan(before * MOST_GROWTH);
      expect(course.most("descriptors", ...last)).toBeLessThanOrEqual(course.most("descriptors", ...second) + 2);
      expect(course.most("threads", ...last)).toBeLessThanOrEqual(course.most("threads", ...second) + 2);
      expect((await client.close()).code).toBe(0);
    } finally {
      removeScratch(scratch);
    }
  },
  PATIENCE_MS,
);
