/** Files that are longer than the search's buffer: searched in pieces, by us and by ripgrep 15, to the byte; and one of a gigabyte. */
import { describe, expect, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { GrepMode, GrepQuery } from "../../core/contract/search.ts";
import { createSearch } from "../../core/exec/search/mod.ts";
import {
  EVERYTHING,
  makeTree,
  NEVER,
  NO_GIT_SETTINGS,
  queryOf,
  type Tree,
} from "../../core/exec/search/tree_fixture.ts";
import { firstDifference } from "./first_difference.ts";
import { argumentsFor, ripgrep } from "./ripgrep.ts";

const CASES = Number(process.env.CORDON_SEARCH_LONG ?? 60);
const SEED = Number(process.env.CORDON_SEARCH_SEED ?? 20_261_125);
const MIB = 1 << 20;

const search = createSearch(EVERYTHING, NO_GIT_SETTINGS);

const WORDS = ["let", "x", "é", "foo", "needle", "a", "tab\t", "k", "\u{212a}", "42"];

/** Lines that look random, the same each time, of a length for each of them. */
function lines(seed: number, bytes: number, { end = "\n", wordsAtMost = 14 } = {}): string {
  const text: string[] = [];
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 12) % below;
  };
  for (let length = 0; length < bytes; length += text.at(-1)?.length ?? 0) {
    const words = Array.from({ length: next(wordsAtMost) }, () => WORDS[next(WORDS.length)]).join(" ");
    // Most of what is looked for is rare, so that context and pieces without a match come about.
    text.push(next(300) === 0 ? `${words}${end}` : `${"-".repeat(next(90))}${end}`);
  }
  return text.join("");
}

/** Beside plain text: a return before each line end, lines longer than a piece, marks at the front, NUL bytes far in, no last line end. */
function longFiles(): Record<string, string | Uint8Array> {
  const text = lines(1, 3 * MIB);
  return {
    "plain.txt": `${text}foo at the end`,
    "returns.txt": lines(2, 2.5 * MIB, { end: "\r\n" }),
    "marked.txt": `\uFEFF${lines(3, 1.2 * MIB)}`,
    "line.txt": `${lines(4, MIB)}${"long x ".repeat(MIB / 2)}\n${lines(5, MIB)}`,
    "utf16.txt": Buffer.from(`\uFEFF${lines(6, MIB)}`, "utf16le"),
    "short.txt": "a foo\nneedle\n",
    "crowd.txt": lines(7, 1.1 * MIB, { wordsAtMost: 2 }),
  };
}

/** A NUL byte behind the first piece: with context, what ripgrep has shown decides how far it looks before it (ADR 14). */
function withNuls(): Record<string, string> {
  return {
    "nul.txt": `${lines(8, 2 * MIB)}\0${lines(9, MIB)}`,
    "soon.txt": `${lines(10, 2000)}\0${lines(11, 2 * MIB)}`,
  };
}

const context = fc.constantFrom(0, 0, 0, 1, 3, 40);
const query = fc.record({
  pattern: fc.constantFrom(
    "foo",
    "needle|42",
    "^",
    "$",
    "\\bk",
    "[^-]",
    "x$",
    "let|é",
    "^$",
    "a foo",
    "zzz",
    "\\w+ \\w+",
  ),
  mode: fc.constantFrom<GrepMode>("content", "content", "content", "count", "count_matches", "files_with_matches"),
  invert: fc.constantFrom(false, false, false, true),
  onlyMatching: fc.constantFrom(false, false, false, true),
  maxCount: fc.constantFrom(0, 0, 0, 2, 100),
  before: context,
  after: context,
  lineNumbers: fc.constantFrom(true, true, false),
  letterCase: fc.constantFrom("sensitive" as const, "ignore" as const),
  word: fc.constantFrom(false, false, true),
});

/** What ADR 14 lists: ripgrep goes on after `-m` with `-v`, shows matches with `-o -v`, and sees `^$` behind a line of context. */
function isListed({ pattern, word, invert, maxCount, onlyMatching, mode, before, after }: GrepQuery): boolean {
  if ((maxCount ?? 0) > 0 && after > 0 && (word === true || /[$^]/.test(pattern))) return true;
  if (invert !== true) return mode === "count_matches" && (maxCount ?? 0) > 0;
  return onlyMatching === true || ((maxCount ?? 0) > 0 && (mode !== "content" || before + after > 0));
}

function ripgrepFinds(asked: GrepQuery): string {
  const program = "path" in ripgrep ? ripgrep.path : "rg";
  const { stdout } = Bun.spawnSync([program, ...argumentsFor(asked)], { cwd: asked.path, stdin: "ignore" });
  return stdout
    .toString()
    .replaceAll("\r\n", "\n")
    .replace(/^.*: WARNING: stopped searching binary file after match .*\n/gm, "")
    .replace(/\n$/, "");
}

async function compare(tree: Tree, queries: readonly GrepQuery[]): Promise<void> {
  for (const asked of queries.filter((one) => !isListed(one))) {
    const answer = await search.grep({ ...asked, pageBytes: Number.POSITIVE_INFINITY }, NEVER);
    const output = asked.mode === "files_with_matches" ? answer.filenames.list().join("\n") : answer.content;
    const expected = ripgrepFinds(asked);
    const where = JSON.stringify({ ...asked, path: asked.path.slice(tree.root.length) });
    expect({ where, ...(output === expected ? {} : firstDifference(output, expected)) }).toEqual({ where });
  }
}

describe.skipIf("missing" in ripgrep)("A5 D7 files that the buffer does not hold", () => {
  const made = fc.sample(query, { numRuns: CASES, seed: SEED });
  const asked = (tree: Tree) =>
    made.map((one) => {
      const shown = one.mode === "content" ? one : { ...one, before: 0, after: 0, onlyMatching: false };
      return queryOf(tree, one.pattern, { ...shown, maxLineBytes: 0 });
    });

  test("are searched as ripgrep searches them", async () => {
    using tree = makeTree(longFiles());
    await compare(tree, asked(tree));
  }, 600_000);

  test("end where ripgrep's search ends at a NUL byte", async () => {
    using tree = makeTree(withNuls());
    await compare(
      tree,
      asked(tree).filter(({ before, after }) => before + after === 0),
    );
  }, 600_000);
});

/** Writes `needle` in the first and the last line of a file and after each of its 16 MiB of hay. Returns their lines. */
function writeHay(path: string, bytes: number): number[] {
  const hay = Buffer.from("a line of hay that is not looked for\n".repeat((16 * MIB) / 37));
  const linesOfHay = (16 * MIB - ((16 * MIB) % 37)) / 37;
  const file = openSync(path, "w");
  const found: number[] = [];
  try {
    writeSync(file, "needle\n");
    found.push(1);
    for (let written = 0, line = 1; written < bytes; written += hay.length) {
      writeSync(file, hay);
      writeSync(file, "needle\n");
      line += linesOfHay + 1;
      found.push(line);
    }
  } finally {
    closeSync(file);
  }
  return found;
}

describe("A5 a file of a gigabyte", () => {
  test("is searched right, in the memory of a piece, and the process has its turn meanwhile", async () => {
    using tree = makeTree({ "small.txt": "needle\n" });
    const path = join(tree.root, "huge.txt");
    const places = writeHay(path, 1 << 30);
    const before = process.memoryUsage.rss();
    let most = 0;
    let turns = 0;
    const look = setInterval(() => {
      turns += 1;
      most = Math.max(most, process.memoryUsage.rss());
    }, 1);
    const inFile = { path, mode: "content", headLimit: 0 } as const;
    const whole = await search.grep(queryOf(tree, "needle", inFile), NEVER);
    const counted = await search.grep(queryOf(tree, "needle", { mode: "count" }), NEVER);
    const page = await search.grep(queryOf(tree, "hay", { ...inFile, offset: 1_000_000, headLimit: 2 }), NEVER);
    clearInterval(look);
    expect(whole.content.split("\n")).toEqual(places.map((line) => `huge.txt:${line}:needle`));
    expect(counted.content).toBe(`huge.txt:${places.length}\nsmall.txt:1`);
    expect(page.content.split("\n").map((line) => line.split(":")[1])).toEqual(["1000004", "1000005"]);
    expect(turns).toBeGreaterThan(8);
    expect(most - before).toBeLessThan(512 * MIB);
  }, 300_000);

  test("can be left in its middle: by a cancellation, and by the end of the time, which gives what was found", async () => {
    using tree = makeTree({});
    const path = join(tree.root, "long.txt");
    const places = writeHay(path, 256 * MIB);
    const slow = queryOf(tree, "needle|(\\w+\\s+){3}zzz", { path, mode: "content" });
    const cancel = new AbortController();
    setTimeout(() => cancel.abort(), 50);
    await expect(search.grep(slow, cancel.signal)).rejects.toMatchObject({ code: "tool.cancelled" });
    for (const where of [path, tree.root]) {
      // A busy machine may need longer until anything is read.
      let partial = await search.grep({ ...slow, path: where, timeBudgetMs: 20 }, NEVER);
      for (let timeBudgetMs = 25; partial.numLines === 0; timeBudgetMs *= 1.25) {
        expect(partial.partial).toBe("time_budget");
        partial = await search.grep({ ...slow, path: where, timeBudgetMs: Math.round(timeBudgetMs) }, NEVER);
      }
      expect(partial.partial).toBe("time_budget");
      expect(partial.numMatches).toBe(partial.numLines);
      expect(partial.numLines).toBeLessThan(places.length);
      expect(partial.content.split("\n").at(0)).toBe("long.txt:1:needle");
    }
    expect((await search.grep(slow, NEVER)).numMatches).toBe(places.length);
  }, 300_000);
});
