import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

async function grep(
  tree: Tree,
  rest: Partial<GrepQuery> = {},
  mayRead: (path: string) => boolean = () => true,
): Promise<AsText<GrepAnswer>> {
  const view = { ...EVERYTHING, mayRead: (paths: readonly string[]) => paths.every(mayRead) };
  return asText(await createSearch(view, NO_GIT_SETTINGS).grep(queryOf(tree, "x", rest), NEVER));
}

describe("D7 what ripgrep would visit is visited", () => {
  test("nested .gitignore files add up, and the nearest decides", async () => {
    using tree = makeTree({
      ".git/HEAD": "x",
      ".gitignore": "*.log\n/out/\n",
      "a.log": "x",
      "out/f": "x",
      "sub/out/f": "x",
      "sub/.gitignore": "!keep.log\nmine\n",
      "sub/keep.log": "x",
      "sub/mine": "x",
      mine: "x",
    });
    expect((await grep(tree)).filenames).toEqual(["mine", "sub/keep.log", "sub/out/f"]);
  });

  test(".ignore holds outside repositories and .gitignore does not", async () => {
    using tree = makeTree({ ".gitignore": "a", ".ignore": "b", a: "x", b: "x" });
    expect((await grep(tree)).filenames).toEqual(["a"]);
  });

  test(".git/info/exclude and the files of folders above the start have a say", async () => {
    using tree = makeTree({
      ".git/info/exclude": "secret\n",
      ".gitignore": "/sub/deep/no\n",
      "sub/deep/no": "x",
      "sub/deep/yes": "x",
      "sub/secret": "x",
    });
    expect((await grep(tree, { path: join(tree.root, "sub") })).filenames).toEqual(["sub/deep/yes"]);
  });

  test("hidden entries are visited only when asked, and what git keeps never", async () => {
    using tree = makeTree({ ".git/f": "x", ".env": "x", ".github/f": "x", f: "x" });
    expect((await grep(tree)).filenames).toEqual(["f"]);
    expect((await grep(tree, { includeHidden: true })).filenames).toEqual([".env", ".github/f", "f"]);
  });

  test("globs and types choose files", async () => {
    using tree = makeTree({ "a.ts": "x", "a.test.ts": "x", "b.rs": "x", "sub/c.tsx": "x" });
    expect((await grep(tree, { globs: ["*.{ts,tsx}"] })).filenames).toEqual(["a.test.ts", "a.ts", "sub/c.tsx"]);
    expect((await grep(tree, { globs: ["!*.test.ts"] })).filenames).toEqual(["a.ts", "b.rs", "sub/c.tsx"]);
    expect((await grep(tree, { globs: ["sub/**"] })).filenames).toEqual(["sub/c.tsx"]);
    expect((await grep(tree, { types: ["rust"] })).filenames).toEqual(["b.rs"]);
  });
});

describe("A5 hostile trees do no harm", () => {
  test("links are not followed, so loops end and nothing outside is read", async () => {
    using outside = makeTree({ secret: "x" });
    using tree = makeTree({ "a/f": "x" });
    symlinkSync(tree.root, join(tree.root, "a", "loop"));
    symlinkSync(outside.root, join(tree.root, "out"));
    symlinkSync(join(outside.root, "secret"), join(tree.root, "leak"));
    expect((await grep(tree, { includeHidden: true })).filenames).toEqual(["a/f"]);
  });

  test("a link as the place to search is refused", async () => {
    using tree = makeTree({ f: "x" });
    symlinkSync(join(tree.root, "f"), join(tree.root, "link"));
    await expect(grep(tree, { path: join(tree.root, "link") })).rejects.toMatchObject({ code: "fs.not_a_file" });
  });

  test.skipIf(Bun.which("mkfifo") === null)("a FIFO is not opened, found or given", async () => {
    using tree = makeTree({ f: "x" });
    Bun.spawnSync(["mkfifo", join(tree.root, "pipe")]);
    expect((await grep(tree)).filenames).toEqual(["f"]);
    await expect(grep(tree, { path: join(tree.root, "pipe") })).rejects.toMatchObject({
      code: "fs.not_a_file",
      message: expect.stringContaining("a FIFO"),
    });
  });

  test("names with spaces, line ends and bytes that are not UTF-8 are searched", async () => {
    using tree = makeTree({ "a b": "x", "line\nend": "x", é: "x" });
    const odd = Buffer.concat([Buffer.from(`${tree.root}/`), Buffer.from([0x6f, 0xff])]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, Buffer.from("/in")]), "x");
    expect((await grep(tree)).filenames).toEqual(["a b", "line\nend", "o\uFFFD/in", "é"]);
  });

  // Root reads what no permission bit allows.
  test.skipIf(process.getuid?.() === 0)("a folder that can't be read is counted and the rest is searched", async () => {
    using tree = makeTree({ "closed/f": "x", f: "x" });
    chmodSync(join(tree.root, "closed"), 0);
    const answer = await grep(tree);
    chmodSync(join(tree.root, "closed"), 0o700);
    expect(answer).toMatchObject({
      filenames: ["f"],
      skipped: { unreadable: 1, unreadableNames: [join(tree.root, "closed")] },
    });
  });

  test("what the policy hides is not searched, file or folder", async () => {
    using tree = makeTree({ f: "x", "keys/id": "x", token: "x" });
    const mayRead = (path: string): boolean => !path.endsWith("/keys") && !path.endsWith("/token");
    expect((await grep(tree, {}, mayRead)).filenames).toEqual(["f"]);
    await expect(grep(tree, { path: join(tree.root, "token") }, mayRead)).rejects.toMatchObject({
      code: "sandbox.hidden",
    });
  });
});

describe("A5 a tree that changes while it is searched does no harm", () => {
  /** Searches while something happens at the moment when the path that ends so is judged. */
  function grepWhile(tree: Tree, ending: string, act: (path: string) => void): Promise<AsText<GrepAnswer>> {
    return grep(tree, {}, (path) => {
      if (path.endsWith(ending)) act(path);
      return true;
    });
  }

  test("a folder swapped for a link is not followed, itself or above, and is named", async () => {
    using outside = makeTree({ "inner/secret": "x" });
    for (const [judged, swapped] of [
      ["/sub", "sub"],
      ["/sub/inner", "sub"],
    ] as const) {
      using tree = makeTree({ "sub/inner/f": "x", g: "x" });
      const answer = await grepWhile(tree, judged, () => {
        renameSync(join(tree.root, swapped), join(tree.root, "away"));
        symlinkSync(outside.root, join(tree.root, swapped));
      });
      expect(answer.filenames).toEqual(["g"]);
      expect(answer.skipped).toMatchObject({ unreadable: 1, unreadableNames: [join(tree.root, judged)] });
    }
  });

  test("a file that vanishes, or becomes a link or a FIFO, is counted and the rest is searched", async () => {
    const acts = [
      (path: string) => rmSync(path),
      (path: string) => {
        rmSync(path);
        symlinkSync("/etc/hostname", path);
      },
      (path: string) => {
        rmSync(path);
        Bun.spawnSync(["mkfifo", path]);
      },
    ];
    for (const act of acts) {
      using tree = makeTree({ a: "x", b: "x" });
      expect(await grepWhile(tree, "/a", act)).toMatchObject({ filenames: ["b"], skipped: { unreadable: 1 } });
    }
  });

  test("a file that grew or was cut off is searched as far as it goes", async () => {
    using tree = makeTree({ a: "x\n", b: "x\n", c: "x\n" });
    const answer = await grepWhile(tree, "/b", (path) => writeFileSync(path, ""));
    expect(answer.filenames).toEqual(["a", "c"]);
  });
});

describe("A5 sizes and numbers that are out of the ordinary", () => {
  test("a sparse file of 1 GB is binary, and too large where all of it is to be seen at once", async () => {
    using tree = makeTree({ big: "x", f: "x" });
    truncateSync(join(tree.root, "big"), 1 << 30);
    expect(await grep(tree)).toMatchObject({ filenames: ["f"], skipped: { binary: 1, tooLarge: 0 } });
    const spanning = queryOf(tree, "x|y\\n", { multiline: true });
    expect(asText(await createSearch(EVERYTHING, NO_GIT_SETTINGS).grep(spanning, NEVER))).toMatchObject({
      filenames: ["f"],
      skipped: { binary: 0, tooLarge: 1 },
    });
  });

  test("a folder with thousands of files is searched whole, in order", async () => {
    const names = Array.from({ length: 5000 }, (_, number) => `a_rather_long_name_of_a_file_${number}`);
    using tree = makeTree(Object.fromEntries(names.map((name) => [name, "x"])));
    expect((await grep(tree)).filenames).toEqual(names.sort());
  });

  test("a page holds the first entries of the whole order, and the totals are those of the tree", async () => {
    const names = Array.from({ length: 600 }, (_, number) => `d${number % 7}/e${number % 5}/f${number}`);
    using tree = makeTree(Object.fromEntries(names.map((name) => [name, "x\nx\n"])));
    const all = await grep(tree, { mode: "content" });
    const page = await grep(tree, { mode: "content", headLimit: 10, offset: 25 });
    expect(page.content).toBe(all.content.split("\n").slice(25, 35).join("\n"));
    expect(page).toMatchObject({ totalFiles: 600, numMatches: 1200, numLines: 10, truncated: true });
    expect(await grep(tree, { headLimit: 5 })).toMatchObject({ totalFiles: 600, numFiles: 5, truncated: true });
  });

  test("patterns that ruin other engines take linear time", async () => {
    using tree = makeTree({ a: `${"a".repeat(200_000)}b\n` });
    for (const pattern of ["(a+)+$", "(a|a)*c", "(a*)*c", "^(\\w+\\s?)*\\d$"]) {
      expect((await createSearch(EVERYTHING, NO_GIT_SETTINGS).grep(queryOf(tree, pattern), NEVER)).totalFiles).toBe(0);
    }
  });

  test("a search that runs out of its time says that it is partial", async () => {
    const names = Array.from({ length: 2000 }, (_, number) => `d${number}/f`);
    using tree = makeTree(Object.fromEntries(names.map((name) => [name, "x"])));
    const answer = await grep(tree, { timeBudgetMs: 1 });
    expect(answer.partial).toBe("time_budget");
    expect(answer.totalFiles).toBeLessThan(2000);
    expect((await grep(tree, { timeBudgetMs: 600_000 })).partial).toBeUndefined();
  });
});

describe("F3 a search by several threads", () => {
  const names = Array.from({ length: 1500 }, (_, number) => `d${number % 150}/e${number % 3}/f${number}`);
  const treeOfMany = () => makeTree(Object.fromEntries(names.map((name, at) => [name, at % 3 === 0 ? "x\n" : "y\n"])));

  test("finds what one thread finds, whichever folders each of them got", async () => {
    using tree = treeOfMany();
    // A function as a rule keeps the search in one thread.
    const alone = await grep(tree, { mode: "content" });
    const together = createSearch(EVERYTHING, NO_GIT_SETTINGS);
    for (let round = 0; round < 4; round += 1) {
      const answer = await together.grep(queryOf(tree, "x", { mode: "content" }), NEVER);
      expect(asText(answer)).toEqual(alone);
    }
    const page = await together.grep(queryOf(tree, "x", { headLimit: 7, offset: 100 }), NEVER);
    expect(asText(page).filenames).toEqual((await grep(tree, { headLimit: 7, offset: 100 })).filenames);
    expect(page.totalFiles).toBe(500);
  });

  test("two at the same time, and one that is cancelled beside another, do not mix", async () => {
    using tree = treeOfMany();
    const together = createSearch(EVERYTHING, NO_GIT_SETTINGS);
    const stop = new AbortController();
    const searches = ["x", "y"].map((pattern) => together.grep(queryOf(tree, pattern), NEVER));
    const cancelled = together.grep(queryOf(tree, "x"), stop.signal);
    stop.abort();
    await expect(cancelled).rejects.toMatchObject({ code: "tool.cancelled" });
    expect((await Promise.all(searches)).map(({ totalFiles }) => totalFiles)).toEqual([500, 1000]);
    expect((await together.grep(queryOf(tree, "x"), NEVER)).totalFiles).toBe(500);
  });
});

test("A5 a raised signal ends a search that has begun", async () => {
  // No text that a match must hold, so that every byte is gone through: it takes many turns of the event loop.
  const files = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`d${n % 30}/f${n}`, "hay\n".repeat(5000)]));
  using tree = makeTree(files);
  const stop = new AbortController();
  const running = createSearch(EVERYTHING, NO_GIT_SETTINGS).grep(queryOf(tree, "(\\w+\\s?)+\\d"), stop.signal);
  await Bun.sleep(1);
  stop.abort();
  await expect(running).rejects.toMatchObject({ code: "tool.cancelled" });
});
