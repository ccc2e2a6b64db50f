/** Lines that are more than an answer holds: it ends, and says where the next one goes on. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { GrepAnswer, GrepQuery, MatchSpan } from "../../contract/search.ts";
import { createSearch } from "./mod.ts";
import { EVERYTHING, makeTree, NEVER, NO_GIT_SETTINGS, queryOf, type Tree } from "./tree_fixture.ts";

const CASES = 60;

/** More pages than any of these searches has. */
const MOST_PAGES = 5000;

const search = createSearch(EVERYTHING, NO_GIT_SETTINGS);

type Whole = { lines: string[]; files: string[]; spans: MatchSpan[]; pages: GrepAnswer[] };

async function all(query: GrepQuery): Promise<Whole> {
  const whole: Whole = { lines: [], files: [], spans: [], pages: [] };
  let part: Partial<GrepQuery> | undefined = {};
  while (part !== undefined) {
    const answer: GrepAnswer = await search.grep({ ...query, contentLines: true, ...part }, NEVER);
    if (whole.pages.push(answer) > MOST_PAGES) throw new Error("it never ends");
    for (const span of answer.spans ?? []) whole.spans.push({ ...span, at: span.at + whole.lines.length });
    whole.lines.push(...(answer.contentLines ?? []));
    for (const name of answer.filenames.list()) if (whole.files.at(-1) !== name) whole.files.push(name);
    part = answer.next;
  }
  return whole;
}

/** Names whose order is not that of their texts, folders enough for other threads, and a file of several pieces. */
function mixedTree(): Tree {
  const parts = Array.from({ length: 40 }, (_, at) => [`part${at}/inner/f`, `x ${at}\ny\nz\nxx\n`]);
  const long = Array.from({ length: 150_000 }, (_, at) => (at % 3 === 0 ? `x line ${at}` : "hay")).join("\n");
  return makeTree({
    ...Object.fromEntries(parts),
    a: "x\n",
    "a-b/c": "x\ny\nx\n",
    "a.b": "y\nx\n",
    "d/a-": "x\n",
    "d/a.b/c": "x x x\n",
    "d/a/b": "x\n".repeat(2),
    "é/x": "x é\n",
    "long.txt": long,
    "one\nline": "x\nx\n",
    "\u{10000}": "x\n",
    "\uE000": "x\n",
  });
}

const asked = fc.record({
  pageBytes: fc.constantFrom(1, 40, 700, 90_000, 3_000_000),
  pattern: fc.constantFrom("x", "x$", "^x [0-9]+$", "no such text"),
  before: fc.constantFrom(0, 0, 2),
  after: fc.constantFrom(0, 1),
  onlyMatching: fc.boolean(),
  spans: fc.boolean(),
  multiline: fc.boolean(),
  offset: fc.constantFrom(0, 0, 3, 60_000),
});

describe("A5 lines that are more than an answer holds", () => {
  test("come in pages that make the whole answer together (property)", async () => {
    using tree = mixedTree();
    let most = 0;
    await fc.assert(
      fc.asyncProperty(asked, async (rest) => {
        // Of the many lines of the long file small pages would be made for hours.
        const only = rest.pageBytes < 90_000 ? { globs: ["!long.txt"] } : {};
        const query = queryOf(tree, rest.pattern, { ...rest, ...only, mode: "content" });
        const { pages, ...parts } = await all(query);
        const { pages: _, ...whole } = await all({ ...query, pageBytes: Number.POSITIVE_INFINITY });
        expect(parts).toEqual(whole);
        expect(pages.slice(0, -1).every(({ truncated, next }) => truncated && next !== undefined)).toBe(true);
        most = Math.max(most, pages.length);
      }),
      { numRuns: CASES, seed: 20_261_122 },
    );
    expect(most).toBeGreaterThan(40);
  }, 300_000);

  test("are no more than fill it, also within one file", async () => {
    using tree = makeTree({ long: "x and more\n".repeat(1_000_000) });
    const pageBytes = 1 << 20;
    const { lines, pages } = await all(queryOf(tree, "x", { mode: "content", pageBytes }));
    expect(lines).toHaveLength(1_000_000);
    expect(lines.at(-1)).toBe("long:1000000:x and more");
    expect(pages.length).toBeGreaterThan(5);
    // Pieces of a file are taken as a whole, of a mebibyte each, and a name stands in front of each line.
    for (const { content } of pages) expect(content.length).toBeLessThan(pageBytes + (4 << 20));
  });

  test("are counted beside them: the first page has the totals of all, and what could not be read", async () => {
    using tree = makeTree({ a: "x\n".repeat(5), b: "\0", c: "x\n" });
    const { pages } = await all(queryOf(tree, "x", { mode: "content", pageBytes: 8 }));
    expect(pages[0]).toMatchObject({
      numMatches: 6,
      totalFiles: 2,
      numLines: 5,
      skipped: { binary: 1 },
      truncated: true,
    });
    expect(pages[1]).toMatchObject({ numLines: 1, truncated: false });
  });

  test("end by their number where that is less, and go on from any file with any number", async () => {
    using tree = makeTree({ a: "x\n".repeat(5), "b/c": "x\n".repeat(5), d: "x\n" });
    const ask = async (rest: Partial<GrepQuery>) =>
      (await search.grep(queryOf(tree, "x", { mode: "content", ...rest }), NEVER)).content.split("\n");
    expect(await ask({ from: `${tree.root}/b/c`, offset: 3 })).toEqual(["b/c:4:x", "b/c:5:x", "d:1:x"]);
    expect(await ask({ from: `${tree.root}/b/c`, offset: 4, headLimit: 1 })).toEqual(["b/c:5:x"]);
    expect(await ask({ offset: 9, pageBytes: 8 })).toEqual(["b/c:5:x"]);
    expect(await ask({ offset: 11, pageBytes: 8 })).toEqual([""]);
    expect(await ask({ from: `${tree.root}/b`, offset: 5 })).toEqual(["d:1:x"]);
    expect(await ask({ from: `${tree.root}/bb`, headLimit: 9 })).toEqual(["d:1:x"]);
  });
});
