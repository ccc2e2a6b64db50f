/**
 * D6 D7: an answer of `cordon serve` is never stale. A process changes a tree at random; again and again it is stopped, and at that moment the
 * server's answer is compared with a search that remembers nothing. While it runs, the server is asked too, so that searches and
 * changes meet. CORDON_FRESH_SEARCHES says how many searches are compared (default 300), CORDON_FRESH_SEED which.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { SAMPLE_ENDINGS, SECRET_NAMES } from "../../core/config/protected_paths.ts";
import type { GlobQuery, GrepQuery, SearchGrant } from "../../core/contract/search.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import { asText } from "../../core/exec/search/tree_fixture.ts";
import { startQuickClient, type QuickClient } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { waitFor } from "../support/wait_for.ts";
import { dice, makeChangingTree, WORDS } from "./changing_tree.ts";

const SEARCHES = Number(process.env.CORDON_FRESH_SEARCHES ?? 300);
const SEED = Number(process.env.CORDON_FRESH_SEED ?? 20_261_122);
const PATIENCE_MS = 120_000 + SEARCHES * 100;

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

type Roll = (end: number) => number;
type Asked = { tool: "grep_search"; query: GrepQuery } | { tool: "glob_search"; query: GlobQuery };

function askedIn(tree: string, roll: Roll): Asked {
  const path = roll(5) === 0 ? join(tree, `part${roll(30)}`) : tree;
  if (roll(6) === 0) {
    const pattern = ["**/*.ts", "*.md", "part1*/**", "*", "n*.ts"][roll(5)] ?? "*";
    return {
      tool: "glob_search",
      query: { pattern, path, limit: roll(2) === 0 ? 100 : 20, ...(roll(3) === 0 ? { includeHidden: true } : {}) },
    };
  }
  const word = WORDS[roll(WORDS.length)] ?? "abc";
  const plain = word.replace(/[()]/g, "\\$&");
  const pattern =
    [plain, `${plain}$`, `line \\d+ ${plain}`, `(${plain}|needle)`, `\\b${plain}`, plain.slice(0, 4), "\\w+ \\d"][
      roll(7)
    ] ?? plain;
  const common = {
    path,
    before: 0,
    after: 0,
    lineNumbers: true,
    offset: 0,
    includeHidden: roll(4) === 0,
    noIgnore: roll(5) === 0,
  };
  const rest = {
    letterCase: roll(3) === 0 ? "ignore" : "sensitive",
    word: roll(6) === 0,
    multiline: roll(5) === 0,
    fixed: false,
    mode: (["content", "files_with_matches", "count"] as const)[roll(3)] ?? "content",
    headLimit: roll(3) === 0 ? 20 : 100,
    ...(roll(6) === 0 ? { globs: [["*.ts", "!*.rs", "*.log", "src/**"][roll(4)] ?? "*"] } : {}),
  } as const;
  return { tool: "grep_search", query: { pattern, ...common, ...rest } };
}

/** The same as a call of the tool. */
function inputOf({ tool, query }: Asked): object {
  const { pattern, path, includeHidden, noIgnore } = query;
  const shared = {
    pattern,
    path,
    ...(includeHidden ? { hidden: true } : {}),
    ...(noIgnore ? { no_ignore: true } : {}),
  };
  if (tool === "glob_search") return { ...shared, limit: query.limit };
  const { globs, letterCase, word, multiline, mode, headLimit } = query;
  const flags = { "-i": letterCase === "ignore", word, multiline, output_mode: mode, head_limit: headLimit };
  return { ...shared, ...flags, ...(globs ? { glob: globs } : {}) };
}

/** What both must say: all but times, and what was remembered. */
async function expected(search: SearchGrant, { tool, query }: Asked): Promise<object> {
  if (tool === "glob_search") return found(asText(await search.glob(query, signal)));
  const { skipped, ...answer } = asText(await search.grep(query, signal));
  const { unreadableNames: _, ...counts } = skipped;
  const anySkipped = skipped.binary + skipped.unreadable + skipped.tooLarge > 0;
  return found({ ...answer, ...(anySkipped ? { skipped: counts } : {}) });
}

function found(answer: object): object {
  return Object.fromEntries(Object.entries(answer).filter(([name]) => name !== "durationMs" && name !== "unreadable"));
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

async function answered(client: QuickClient, asked: Asked): Promise<{ said: object; state: string }> {
  const { ok, output, error, meta } = await client.call(asked.tool, inputOf(asked));
  const state = `${meta.index?.state ?? "none"} ${meta.index?.why ?? ""}`.trim();
  return { said: ok && output ? found(output) : { error }, state };
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
      for (let at = 0; at < SEARCHES; at += 1) {
        await changes.toggle();
        const meeting = roll(2) === 0 ? answered(client, askedIn(tree, roll)) : undefined;
        await Bun.sleep(roll(MOST_RUN_MS));
        await meeting;
        await changes.toggle();
        const asked = askedIn(tree, roll);
        const { said, state } = await answered(client, asked);
        states.set(state, (states.get(state) ?? 0) + 1);
        expect({ at, asked, state, said }).toEqual({ at, asked, state, said: await expectedOrRefused(cold, asked) });
      }
      console.info(`index in ${SEARCHES} searches: ${JSON.stringify(Object.fromEntries(states))}`);
      expect(states.get("used") ?? 0).toBeGreaterThan(SEARCHES / 2);
      expect((await client.close()).code).toBe(0);
    } finally {
      await changes.end();
      if (!process.env.KEEP) removeScratch(scratch);
      else console.log(scratch.top);
    }
  },
  PATIENCE_MS,
);
