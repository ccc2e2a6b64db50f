/**
 * D6 D7: an answer of `cordon serve` is never stale. A process changes a tree at random; again and again it is stopped, and at that moment the
 * server's answer is compared with a search that remembers nothing. While it runs, the server is asked too, so that searches and
 * changes meet. Half of the searches were asked before, often for another page. 300 searches are compared, 10,000 in `npm run soak`;
 * CORDON_FRESH_SEARCHES says another number, CORDON_FRESH_SEED which searches and changes.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { SAMPLE_ENDINGS, SECRET_NAMES } from "../../core/config/protected_paths.ts";
import type { GrepQuery, SearchGrant } from "../../core/contract/search.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import { asText } from "../../core/exec/search/tree_fixture.ts";
import { startQuickClient, type QuickClient } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { waitFor } from "../support/wait_for.ts";
import { times } from "../soak/length.ts";
import { type Asked, Asker, found, inputOf } from "./asked.ts";
import { dice, makeChangingTree } from "./changing_tree.ts";

const SEARCHES = Number(process.env.CORDON_FRESH_SEARCHES ?? times({ short: 300, long: 10_000 }));
const SEED = Number(process.env.CORDON_FRESH_SEED ?? 20_261_122);
const PATIENCE_MS = 120_000 + SEARCHES * 400;

/** How long the changes go on between two searches that are compared: seldom long, so that there are some hundred of them each time. */
const RUN_MS = [0, 0, 1, 1, 2, 2, 4, 12];

/** So often a line says how far it is. */
const TOLD_EVERY = 500;

/** The share of the searches that must be answered from the index: of most others the start was gone. */
const LEAST_FROM_INDEX = 0.9;

/** Changes as changing_tree.ts names them: of each line one at least is made. */
const MUST_HAPPEN = [
  ["create"],
  ["write"],
  ["rename"],
  ["remove"],
  ["link"],
  ["inSecret"],
  ["rules", "rulesAbove", "exclude", "globalExcludes"],
];

const { signal } = new AbortController();

const USUAL: Omit<GrepQuery, "path"> = {
  pattern: "needle",
  before: 0,
  after: 0,
  lineNumbers: true,
  letterCase: "sensitive",
  multiline: false,
  mode: "files_with_matches",
  headLimit: 0,
  offset: 0,
};

/** How often each kind of change was made. */
type Made = Record<string, number>;

/** The process that changes the tree. `end` returns what it has done. */
function startChanges(top: string): { toggle: () => Promise<void>; end: () => Promise<Made>; kill: () => void } {
  const script = join(import.meta.dir, "changing_tree.ts");
  const child = Bun.spawn([process.execPath, script, top, String(SEED)], { stdin: "pipe", stdout: "pipe" });
  const reader = child.stdout.getReader();
  return {
    toggle: async () => {
      child.stdin.write("\n");
      await child.stdin.flush();
      if ((await reader.read()).done) throw new Error("the process that changes the tree has ended");
    },
    end: async () => {
      await child.stdin.end();
      const last: Buffer[] = [];
      for (let part = await reader.read(); !part.done; part = await reader.read()) last.push(Buffer.from(part.value));
      await child.exited;
      return JSON.parse(Buffer.concat(last).toString());
    },
    kill: () => child.kill(),
  };
}

/** What both must say: all but times, and what was remembered. */
async function expected(search: SearchGrant, { tool, query }: Asked): Promise<object> {
  if (tool === "glob_search") return found(asText(await search.glob(query, signal)));
  const { skipped, ...answer } = asText(await search.grep(query, signal));
  const { unreadableNames: _, ...counts } = skipped;
  const anySkipped = skipped.binary + skipped.unreadable + skipped.tooLarge > 0;
  return found({ ...answer, ...(anySkipped ? { skipped: counts } : {}) });
}

/** A start that a change has taken away is refused by both. */
async function expectedOrRefused(search: SearchGrant, asked: Asked): Promise<object> {
  try {
    return await expected(search, asked);
  } catch (error) {
    if (error instanceof Error && "code" in error) return { error: expect.objectContaining({ code: error.code }) };
    throw error;
  }
}

async function answered(
  client: QuickClient,
  asked: Asked,
): Promise<{ said: object; state: string; remembers: boolean }> {
  const { ok, output, error, meta } = await client.call(asked.tool, inputOf(asked));
  const state = `${meta.index?.state ?? "none"} ${meta.index?.why ?? ""}`.trim();
  return { said: ok && output ? found(output) : { error }, state, remembers: meta.index?.remembered !== undefined };
}

/** Counts what was compared, and says it now and then. */
class Tally {
  readonly states = new Map<string, number>();
  readonly #begun = performance.now();
  compared = 0;
  remembered = 0;

  add({ state, remembers }: { state: string; remembers: boolean }): void {
    this.states.set(state, (this.states.get(state) ?? 0) + 1);
    if (remembers) this.remembered += 1;
    this.compared += 1;
    if (this.compared % TOLD_EVERY === 0 || this.compared === SEARCHES) this.#say();
  }

  #say(): void {
    const states = JSON.stringify(Object.fromEntries(this.states));
    const seconds = ((performance.now() - this.#begun) / 1000).toFixed(0);
    console.info(
      `freshness: ${this.compared} of ${SEARCHES} compared, none stale; index ${states}, ${this.remembered} with an earlier outcome; ${seconds} s`,
    );
  }
}

test(
  `D6 D7 of ${SEARCHES} searches amid changes none gives a stale answer`,
  async () => {
    const scratch = makeScratch();
    const tree = join(scratch.work, "tree");
    makeChangingTree(scratch.top, SEED);
    const client = startQuickClient({ scratch, patienceMs: PATIENCE_MS });
    const changes = startChanges(scratch.top);
    const tally = new Tally();
    try {
      const roll = dice(SEED + 1);
      const cold = createSearch(
        { hidden: [], closedNames: SECRET_NAMES, sampleEndings: SAMPLE_ENDINGS },
        { home: scratch.home, systemFile: "/etc/gitconfig" },
      );
      const used = { tool: "grep_search", query: { ...USUAL, path: tree } } as const;
      await waitFor("the index to be used", async () => (await answered(client, used)).state === "used");
      const asker = new Asker(tree, roll);
      for (let at = 0; at < SEARCHES; at += 1) {
        await changes.toggle();
        const meeting = roll(2) === 0 ? answered(client, asker.next()) : undefined;
        await Bun.sleep(RUN_MS[roll(RUN_MS.length)] ?? 0);
        await meeting;
        await changes.toggle();
        const asked = asker.next();
        // Both while nothing changes: beside each other, they take the time of one.
        const [answer, rightly] = await Promise.all([answered(client, asked), expectedOrRefused(cold, asked)]);
        const { said, state } = answer;
        expect({ at, asked, state, said }).toEqual({ at, asked, state, said: rightly });
        tally.add(answer);
      }
      const made = await changes.end();
      console.info(`freshness: changes made ${JSON.stringify(made)}`);
      for (const kinds of MUST_HAPPEN) expect(made).toContainAnyKeys(kinds);
      expect(tally.states.get("used") ?? 0).toBeGreaterThan(SEARCHES * LEAST_FROM_INDEX);
      expect(tally.remembered).toBeGreaterThan(SEARCHES / 10);
      expect((await client.close()).code).toBe(0);
    } finally {
      changes.kill();
      if (!process.env.KEEP) removeScratch(scratch);
      else console.log(scratch.top);
    }
  },
  PATIENCE_MS,
);
