/** A tree with an index, and searches of it with what that knows and without. */
import type { GrepQuery, SearchGrant } from "../../core/contract/search.ts";
import { SearchIndex } from "../../core/exec/search/index/search_index.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import {
  asText,
  EVERYTHING,
  makeTree,
  NEVER,
  NO_GIT_SETTINGS,
  queryOf,
  type Tree,
} from "../../core/exec/search/tree_fixture.ts";
import { waitFor } from "../support/wait_for.ts";

const INDEX_BYTES = 64 << 20;

/** An index of fewer files is not kept. */
const FILES = 300;

/** Part of no file. */
const NOWHERE = "no_such_word";

/** A tree, and searches of it. */
export class IndexedTree {
  readonly tree: Tree;
  readonly #warm: SearchGrant;
  readonly #cold: SearchGrant;

  /** Makes a tree of these files, and of others without any word to look for. `ready` waits until it has an index. */
  constructor(files: Record<string, string | Uint8Array>) {
    const others = Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`other/f${at}`, "hay\n"]));
    this.tree = makeTree({ ...others, ...files });
    this.#warm = createSearch(EVERYTHING, NO_GIT_SETTINGS, new SearchIndex(INDEX_BYTES));
    this.#cold = createSearch(EVERYTHING, NO_GIT_SETTINGS);
  }

  /** Waits until there is an index that knows all files but so many, which it can't know. */
  async ready(left = 0): Promise<void> {
    await waitFor("the index", async () => (await this.find(NOWHERE)).index?.candidates === left);
  }

  /** What is found with the index. */
  async find(pattern: string, rest: Partial<GrepQuery> = {}) {
    return asText(await this.#warm.grep(queryOf(this.tree, pattern, rest), NEVER));
  }

  /** The same with the index and without, and whether it was used. */
  async findTwice(
    pattern: string,
    rest: Partial<GrepQuery> = {},
  ): Promise<{ warm: object; cold: object; used: boolean }> {
    const { index, ...warm } = await this.find(pattern, rest);
    return {
      warm,
      cold: asText(await this.#cold.grep(queryOf(this.tree, pattern, rest), NEVER)),
      used: index?.state === "used",
    };
  }

  [Symbol.dispose](): void {
    this.tree[Symbol.dispose]();
  }
}
