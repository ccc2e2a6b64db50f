/**
 * D6 D7: an answer of `cordon serve` is never stale. A process changes a tree at random; again and again it is stopped, and at that moment the
 * server's answer is compared with a search that remembers nothing. While it runs, the server is asked too, so that searches and
 * changes meet. Half of the searches were asked before, often for another page. CORDON_FRESH_SEARCHES says how many searches are compared (default 300), CORDON_FRESH_SEED which.
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
import { type Asked, Asker, found, inputOf } from "./asked.ts";
import { dice, makeChangingTree } from "./changing_tree.ts";

const SEARCHES = Number(process.env.CORDON_FRESH_SEARCHES ?? 300);
const SEED = Number(process.env.CORDON_FRESH_SEED ?? 20_261_122);
const PATIENCE_MS = 120_000 + SEARCHES * 400;

/** How long the changes go on between two searches that are compared, at most. */
const MOST_RUN_MS = 12;

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

/** The process that changes the tree. */
function startChanges(top: string): { toggle: () => Promise<void>; end: () => Promise<void> } {
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
      await child.exited;
    },
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

test(
  `D6 D7 of ${SEARCHES} searches amid changes none gives a stale answer`,
  async () => {
    const scratch = makeScratch();
    const tree = join(scratch.work, "tree");
    makeChangingTree(scratch.top, SEED);
    const client = startQuickClient({ scratch, patienceMs: PATIENCE_MS });
    const changes = startChanges(scratch.top);
    try {
      const roll = dice(SEED + 1);
      const cold = createSearch(
        { hidden: [], closedNames: SECRET_NAMES, sampleEndings: SAMPLE_ENDINGS },
        { home: scratch.home, systemFile: "/etc/gitconfig" },
      );
      const used = { tool: "grep_search", query: { ...USUAL, path: tree } } as const;
      await waitFor("the index to be used", async () => (await answered(client, used)).state === "used");
      const states = new Map<string, number>();
      const asker = new Asker(tree, roll);
      let remembered = 0;
      for (let at = 0; at < SEARCHES; at += 1) {
        await changes.toggle();
        const meeting = roll(2) === 0 ? answered(client, asker.next()) : undefined;
        await Bun.sleep(roll(MOST_RUN_MS));
        await meeting;
        await changes.toggle();
        const asked = asker.next();
        const { said, state, remembers } = await answered(client, asked);
        states.set(state, (states.get(state) ?? 0) + 1);
        if (remembers) remembered += 1;
        expect({ at, asked, state, said }).toEqual({ at, asked, state, said: await expectedOrRefused(cold, asked) });
      }
      console.info(
        `index in ${SEARCHES} searches: ${JSON.stringify(Object.fromEntries(states))}, ${remembered} of them had an earlier outcome`,
      );
      expect(states.get("used") ?? 0).toBeGreaterThan(SEARCHES / 2);
      expect(remembered).toBeGreaterThan(SEARCHES / 10);
      expect((await client.close()).code).toBe(0);
    } finally {
      await changes.end();
      if (!process.env.KEEP) removeScratch(scratch);
      else console.log(scratch.top);
    }
  },
  PATIENCE_MS,
);
