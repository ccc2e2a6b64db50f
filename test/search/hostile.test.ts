// Searches of what is far out of the ordinary: very many files, patterns that explode, pages of generated trees.
import { describe, expect, test } from "bun:test";
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import type { GrepMode, GrepQuery } from "../../core/contract/search.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import { asText, EVERYTHING, NEVER, NO_GIT_SETTINGS } from "../../core/exec/search/tree_fixture.ts";
import { makeOddTree, oddTree } from "./odd_tree.ts";

const search = createSearch(EVERYTHING, NO_GIT_SETTINGS);

/** statfs(2). */
const TMPFS_MAGIC = 0x01021994;

function query(path: string, pattern: string, rest: Partial<GrepQuery> = {}): GrepQuery {
  const shape = { before: 0, after: 0, lineNumbers: true, letterCase: "sensitive", multiline: false } as const;
  return { pattern, path, relativeTo: path, ...shape, mode: "files_with_matches", headLimit: 0, offset: 0, ...rest };
}

/** A folder in memory where there is one, since a hundred thousand names are slow on a disk. */
function crowdedFolder(count: number): { root: string; [Symbol.dispose](): void } {
  const base = statfsSync("/dev/shm").type === TMPFS_MAGIC ? "/dev/shm" : tmpdir();
  const place = realpathSync(mkdtempSync(join(base, "cordon-crowd-")));
  const root = join(place, "all");
  mkdirSync(root);
  // Names of one file: as many as a file may have on most file systems.
  const perFile = 20_000;
  for (let number = 0; number < count; number += 1) {
    const origin = join(place, `origin${Math.floor(number / perFile)}`);
    if (number % perFile === 0) writeFileSync(origin, "needle\n");
    linkSync(origin, join(root, `f${String(number).padStart(6, "0")}`));
  }
  return { root, [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }) };
}

describe("A5 A11 very many files", () => {
  test("a hundred thousand in one folder are searched and listed, capped, and their pages are stable", async () => {
    const count = 100_000;
    using folder = crowdedFolder(count);
    const nameOf = (number: number) => `f${String(number).padStart(6, "0")}`;
    for (const offset of [0, 54_321, count - 7]) {
      const page = await search.grep(query(folder.root, "needle", { headLimit: 10, offset }), NEVER);
      const expected = Array.from({ length: Math.min(10, count - offset) }, (_, at) => nameOf(offset + at));
      expect(asText(page)).toMatchObject({ filenames: expected, totalFiles: count, truncated: offset + 10 < count });
      const named = await search.glob({ pattern: "f*", path: folder.root, limit: 10, offset, order: "path" }, NEVER);
      expect(named.filenames.list().map((path) => path.slice(folder.root.length + 1))).toEqual(expected);
      expect(named).toMatchObject({ totalFiles: count, truncated: offset + 10 < count });
    }
    // All of one age: what is the same age stands by its path.
    const newest = await search.glob({ pattern: "f0000*", path: folder.root, limit: 100 }, NEVER);
    expect(newest.filenames.list()).toEqual(Array.from({ length: 100 }, (_, at) => join(folder.root, nameOf(at))));
  }, 120_000);
});

describe("A5 patterns that explode", () => {
  test("are refused with what they are and what to do, and the same patterns in a smaller size work", async () => {
    using folder = crowdedFolder(1);
    for (const pattern of [".{1000}{1000}", "((\\w{100}){100}){100}", "(?:(?:\\pL{200}){200}){20}"]) {
      await expect(search.grep(query(folder.root, pattern), NEVER)).rejects.toMatchObject({
        code: "search.bad_pattern",
        message: expect.stringContaining("size limit"),
        hint: expect.stringContaining("Repeat less"),
      });
    }
    expect((await search.grep(query(folder.root, ".{2}{3}"), NEVER)).totalFiles).toBe(1);
  });

  test("say where they are wrong, and how to mend it", async () => {
    using folder = crowdedFolder(1);
    for (const [pattern, column, hint] of [
      ["ab{", 3, "Escape the brace"],
      ["fn main(", 8, "\\("],
      ["a[b", 2, "\\["],
      ["*a", 1, "Escape the operator"],
      ["a(?!b)", 2, "Look-around"],
      ["(a)\\1", 4, "Backreferences"],
    ] as const) {
      await expect(search.grep(query(folder.root, pattern), NEVER)).rejects.toMatchObject({
        code: "search.bad_pattern",
        message: expect.stringContaining(`at character ${column}`),
        hint: expect.stringContaining(hint),
        details: { column },
      });
    }
  });
});

test("A12 A5 the pages of a search joined are the whole, in every mode, whatever the tree is", async () => {
  const modes: GrepMode[] = ["content", "count", "count_matches", "files_with_matches", "files_without_match"];
  const plans = fc.sample(oddTree, { numRuns: 8, seed: 20_261_124 });
  for (const [number, plan] of plans.entries()) {
    using tree = makeOddTree(plan);
    for (const mode of modes) {
      const headLimit = 1 + (number % 5);
      const shape = { mode, includeHidden: true, before: number % 2, contentLines: true, spans: true } as const;
      const whole = await search.grep(query(tree.root, "[a-f]", shape), NEVER);
      const lines: string[] = [];
      const names = new Set<string>();
      const spans: unknown[] = [];
      for (let offset = 0; ; offset += headLimit) {
        const page = await search.grep(query(tree.root, "[a-f]", { ...shape, headLimit, offset }), NEVER);
        expect(page.totalFiles).toBe(whole.totalFiles);
        for (const span of page.spans ?? []) spans.push({ ...span, at: span.at + offset });
        lines.push(...(page.contentLines ?? []));
        for (const name of page.filenames.list()) names.add(name);
        if (!page.truncated) break;
      }
      expect({ mode, lines, names: [...names] }).toEqual({
        mode,
        lines: whole.contentLines ?? [],
        names: [...whole.filenames.list()],
      });
      expect(spans).toEqual(whole.spans ?? []);
    }
  }
}, 300_000);
