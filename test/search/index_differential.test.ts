/**
 * D6 D7: searches with an index and what it remembers give the same as searches without, for queries made from numbers. CORDON_INDEX_SEARCHES says how many
 * (default 400), CORDON_INDEX_SEED which. Between them the tree is changed now and then.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { SAMPLE_ENDINGS, SECRET_NAMES } from "../../core/config/protected_paths.ts";
import type { SearchGrant } from "../../core/contract/search.ts";
import { SearchIndex } from "../../core/exec/search/index/search_index.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import { asText } from "../../core/exec/search/tree_fixture.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { waitFor } from "../support/wait_for.ts";
import { type Asked, Asker, found } from "./asked.ts";
import { ChangingPlace, changeOnce, dice, makeChangingTree } from "./changing_tree.ts";

const SEARCHES = Number(process.env.CORDON_INDEX_SEARCHES ?? 400);
const SEED = Number(process.env.CORDON_INDEX_SEED ?? 23_112_026);
const INDEX_BYTES = 256 << 20;

/** So often something changes. */
const CHANGE_EVERY = 8;

const { signal } = new AbortController();

async function answerOf(search: SearchGrant, { tool, query }: Asked) {
  try {
    const answer =
      tool === "glob_search" ? asText(await search.glob(query, signal)) : asText(await search.grep(query, signal));
    return { said: found(answer), note: answer.index };
  } catch (error) {
    if (error instanceof Error && "code" in error) return { said: { error: error.code }, note: undefined };
    throw error;
  }
}

test(
  `D6 D7 ${SEARCHES} generated searches with an index say what they say without`,
  async () => {
    const scratch = makeScratch();
    try {
      makeChangingTree(scratch.top, SEED);
      const tree = join(scratch.work, "tree");
      const view = {
        hidden: [join(tree, "part3/deep/f1.ts")],
        closedNames: SECRET_NAMES,
        sampleEndings: SAMPLE_ENDINGS,
      };
      const git = { home: scratch.home, systemFile: "/etc/gitconfig" };
      const [warm, cold] = [createSearch(view, git, new SearchIndex(INDEX_BYTES)), createSearch(view, git)];
      const roll = dice(SEED);
      const [asker, place] = [new Asker(tree, roll), new ChangingPlace(scratch.top, roll)];
      const whole = { tool: "glob_search", query: { pattern: "*", path: tree, limit: 1 } } as const;
      await waitFor("the index", async () => (await answerOf(warm, whole)).note?.state === "used");
      const counts = { used: 0, remembered: 0 };
      for (let at = 0; at < SEARCHES; at += 1) {
        if (roll(CHANGE_EVERY) === 0) changeOnce(place);
        const asked = asker.next();
        const { said, note } = await answerOf(warm, asked);
        if (note?.state === "used") counts.used += 1;
        if (note?.remembered !== undefined) counts.remembered += 1;
        expect({ at, asked, note, said }).toEqual({ at, asked, note, said: (await answerOf(cold, asked)).said });
      }
      expect(counts.used).toBeGreaterThan(SEARCHES / 2);
      expect(counts.remembered).toBeGreaterThan(SEARCHES / 8);
    } finally {
      removeScratch(scratch);
    }
  },
  60_000 + SEARCHES * 100,
);
