import { describe, expect, test } from "bun:test";
import type { GrepAnswer, GrepQuery } from "../../contract/search.ts";
import { createSearch } from "./mod.ts";
import {
  asText,
  type AsText,
  EVERYTHING,
  makeTree,
  NEVER,
  NO_GIT_SETTINGS,
  queryOf,
  type Tree,
} from "./tree_fixture.ts";

const search = createSearch(EVERYTHING, NO_GIT_SETTINGS);

async function grep(tree: Tree, pattern: string, rest: Partial<GrepQuery> = {}): Promise<AsText<GrepAnswer>> {
  return asText(await search.grep(queryOf(tree, pattern, rest), NEVER));
}

describe("A12 grep_search has three modes", () => {
  test("files_with_matches names the files in path order and nothing else", async () => {
    using tree = makeTree({ "b.txt": "needle\n", "a/z.txt": "needle", "a.txt": "hay\n", "a/b/c.txt": "a needle here" });
    const answer = await grep(tree, "needle");
    expect(answer).toMatchObject({ filenames: ["a/b/c.txt", "a/z.txt", "b.txt"], numFiles: 3, content: "" });
    expect(answer.truncated).toBe(false);
  });

  test("content gives path, number and line", async () => {
    using tree = makeTree({ a: "x\nneedle 1\ny\nneedle 2", b: "none" });
    const answer = await grep(tree, "needle", { mode: "content" });
    expect(answer.content).toBe("a:2:needle 1\na:4:needle 2");
    expect(answer).toMatchObject({ numLines: 2, numMatches: 2, numFiles: 1, filenames: ["a"] });
    expect((await grep(tree, "needle", { mode: "content", lineNumbers: false })).content).toBe(
      "a:needle 1\na:needle 2",
    );
  });

  test("count gives the number of matching lines of each file", async () => {
    using tree = makeTree({ a: "needle needle\nneedle", b: "needle", c: "" });
    const answer = await grep(tree, "needle", { mode: "count" });
    expect(answer.content).toBe("a:2\nb:1");
    expect(answer).toMatchObject({ numMatches: 3, numFiles: 2, numLines: 2 });
  });
});

describe("A5 grep_search takes the options of its schema", () => {
  test("context is merged where groups touch and separated where not, also between files", async () => {
    using tree = makeTree({ a: "1\n2\nx3\nx4\n5\n6\n7\nx8", b: "x" });
    const { content, numLines } = await grep(tree, "x", { mode: "content", before: 1, after: 1 });
    expect(content).toBe("a-2-2\na:3:x3\na:4:x4\na-5-5\n--\na-7-7\na:8:x8\n--\nb:1:x");
    expect(numLines).toBe(9);
  });

  test("head_limit and offset count lines in mode content, and the answer says that there is more", async () => {
    using tree = makeTree({ a: "x1\nx2\nx3", b: "x4\nx5" });
    const page = await grep(tree, "x", { mode: "content", headLimit: 2, offset: 2 });
    expect(page.content).toBe("a:3:x3\nb:1:x4");
    expect(page).toMatchObject({
      truncated: true,
      appliedLimit: 2,
      appliedOffset: 2,
      filenames: ["a", "b"],
      numLines: 2,
    });
    const last = await grep(tree, "x", { mode: "content", headLimit: 2, offset: 4 });
    expect(last.content).toBe("b:2:x5");
    expect(last.truncated).toBe(false);
    expect(last.appliedLimit).toBeUndefined();
  });

  test("head_limit and offset count files in the other modes", async () => {
    using tree = makeTree({ a: "x", b: "x", c: "x" });
    expect(await grep(tree, "x", { headLimit: 1, offset: 1 })).toMatchObject({ filenames: ["b"], truncated: true });
    expect(await grep(tree, "x", { headLimit: 3 })).toMatchObject({ numFiles: 3, truncated: false });
    expect(await grep(tree, "x", { mode: "count", offset: 2 })).toMatchObject({ content: "c:1", truncated: false });
  });

  test("all pages together are the whole answer", async () => {
    const line = (n: number): string => (n % 3 === 0 ? `x${n}` : `${n}`);
    const text = Array.from({ length: 40 }, (_, n) => line(n)).join("\n");
    using tree = makeTree({ a: text, b: text, "c/d": text });
    const whole = await grep(tree, "x", { mode: "content", before: 1 });
    const pages: string[] = [];
    for (let offset = 0; ; offset += 7) {
      const page = await grep(tree, "x", { mode: "content", before: 1, headLimit: 7, offset });
      if (page.content !== "") pages.push(page.content);
      if (!page.truncated) break;
    }
    expect(pages.join("\n")).toBe(whole.content);
  });

  test("a multi-line pattern matches across lines and shows each of them", async () => {
    using tree = makeTree({ a: "one {\n  two\n}\nthree" });
    const answer = await grep(tree, "\\{.*?\\}", { mode: "content", multiline: true });
    expect(answer.content).toBe("a:1:one {\na:2:  two\na:3:}");
    expect(answer.numMatches).toBe(1);
    expect((await grep(tree, "\\{.*?\\}")).filenames).toEqual([]);
  });

  test("case is ignored by Unicode's rules when asked", async () => {
    using tree = makeTree({ a: "ÉTÉ", b: "été" });
    expect((await grep(tree, "été", { letterCase: "ignore" })).filenames).toEqual(["a", "b"]);
    expect((await grep(tree, "été")).filenames).toEqual(["b"]);
  });

  test("a file as path is searched whatever ignore files say", async () => {
    using tree = makeTree({ ".git/HEAD": "", ".gitignore": "a.log", "a.log": "needle" });
    expect((await grep(tree, "needle")).filenames).toEqual([]);
    expect((await grep(tree, "needle", { path: `${tree.root}/a.log` })).filenames).toEqual(["a.log"]);
  });

  test("names outside relativeTo are whole", async () => {
    using tree = makeTree({ "a/f": "x", "ab/f": "x" });
    const answer = await grep(tree, "x", { relativeTo: `${tree.root}/a` });
    expect(answer.filenames).toEqual(["f", `${tree.root}/ab/f`]);
  });
});

describe("A5 errors say what to do", () => {
  test("a bad pattern names the place and the mend", async () => {
    using tree = makeTree({ a: "" });
    await expect(grep(tree, "é interface{")).rejects.toMatchObject({
      code: "search.bad_pattern",
      message: 'Cannot compile the pattern "é interface{": unclosed counted repetition at character 12',
      hint: "Escape the brace as \\{ to search for it",
      details: { column: 12 },
    });
    await expect(grep(tree, "a\\nb")).rejects.toMatchObject({ hint: "Set multiline to true" });
  });

  test("a bad glob, a bad type and a missing path have their own codes", async () => {
    using tree = makeTree({ a: "" });
    await expect(grep(tree, "x", { globs: ["a{b"] })).rejects.toMatchObject({ code: "search.bad_glob" });
    await expect(grep(tree, "x", { types: ["klingon"] })).rejects.toMatchObject({ code: "search.bad_type" });
    await expect(grep(tree, "x", { path: `${tree.root}/no` })).rejects.toMatchObject({ code: "fs.not_found" });
  });

  test("a search after a refused one works", async () => {
    using tree = makeTree({ a: "x" });
    await expect(grep(tree, "(")).rejects.toMatchObject({ code: "search.bad_pattern" });
    expect((await grep(tree, "x")).filenames).toEqual(["a"]);
  });
});

describe("D7 text of all kinds is searched as ripgrep does", () => {
  test("binary files are left out and counted", async () => {
    using tree = makeTree({ a: "needle\0", b: "needle" });
    expect(await grep(tree, "needle")).toMatchObject({ filenames: ["b"], skipped: { binary: 1 } });
  });

  test("a line end of two bytes is a line end and is not shown", async () => {
    using tree = makeTree({ a: "one\r\ntwo\r\n" });
    expect((await grep(tree, "one$", { mode: "content" })).content).toBe("a:1:one");
    expect((await grep(tree, "\\r$", { mode: "count" })).content).toBe("a:2");
  });

  test("bytes that are not UTF-8 are shown as U+FFFD, and UTF-16 with a mark is read", async () => {
    using tree = makeTree({ a: new Uint8Array([0xff, 0x78]), b: new Uint8Array([0xff, 0xfe, 0x78, 0]) });
    expect((await grep(tree, "x", { mode: "content" })).content).toBe("a:1:\uFFFDx\nb:1:x");
  });

  test("a long line is cut around the match, with a mark", async () => {
    using tree = makeTree({ a: `${"a".repeat(9000)}needle${"b".repeat(9000)}` });
    const { content } = await grep(tree, "needle", { mode: "content" });
    expect(content).toContain("needle");
    expect(content).toMatch(/^a:1:\[\d+ bytes cut …\] a+needleb+ \[… \d+ bytes cut\]$/);
    expect(content.length).toBeLessThan(2100);
  });

  test("a file larger than the first buffer is searched to its end", async () => {
    using tree = makeTree({ a: "small needle", b: `${"hay\n".repeat(700_000)}needle`, c: "needle" });
    expect((await grep(tree, "needle$", { mode: "content" })).content).toBe(
      "a:1:small needle\nb:700001:needle\nc:1:needle",
    );
  });

  test("what comes after a file larger than the first buffer is entered and judged as ever", async () => {
    const big = { "a/.gitignore": "x\n", "a/big": `${"hay\n".repeat(700_000)}needle` };
    const after = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`b${n}/.gitignore`, "no\n"]));
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, n) => [`b${n}/no`, `b${n}/yes`]).flatMap((names) =>
        names.map((name) => [name, "needle"]),
      ),
    );
    using tree = makeTree({ ".git/": "", ...big, ...after, ...files });
    const { filenames } = await grep(tree, "needle");
    expect(filenames.length).toBe(41);
    expect(filenames.some((name) => name.endsWith("/no"))).toBe(false);
  });
});

test("F3 two searches at the same time do not mix", async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f${n}`, n % 2 === 0 ? "even\n" : "odd\n"]));
  using tree = makeTree(files);
  const [even, odd] = await Promise.all([
    grep(tree, "even", { mode: "count" }),
    grep(tree, "odd", { mode: "content" }),
  ]);
  expect(even.numMatches).toBe(150);
  expect(odd.numLines).toBe(150);
});
