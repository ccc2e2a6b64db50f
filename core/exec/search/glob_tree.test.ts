import { describe, expect, test } from "bun:test";
import { symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { GlobAnswer, GlobQuery } from "../../contract/search.ts";
import { createSearch } from "./mod.ts";
import { type AsText, EVERYTHING, makeTree, NEVER, NO_GIT_SETTINGS, type Tree } from "./tree_fixture.ts";

async function glob(tree: Tree, pattern: string, rest: Partial<GlobQuery> = {}): Promise<AsText<GlobAnswer>> {
  const answer = await createSearch(EVERYTHING, NO_GIT_SETTINGS).glob(
    { pattern, path: tree.root, limit: 100, ...rest },
    NEVER,
  );
  return { ...answer, filenames: answer.filenames.list().map((name) => name.slice(tree.root.length + 1)) };
}

/** The names in path order, where the order by time is not what a test is about. */
async function names(tree: Tree, pattern: string, rest: Partial<GlobQuery> = {}): Promise<string[]> {
  return (await glob(tree, pattern, rest)).filenames.sort();
}

describe("A11 glob_search", () => {
  test("sorts the newest first, and by path where times are equal", async () => {
    using tree = makeTree({ "old.ts": "", "new.ts": "", "b.ts": "", "a.ts": "" });
    for (const [name, time] of [
      ["old.ts", 1000],
      ["new.ts", 3000],
      ["b.ts", 2000],
      ["a.ts", 2000],
    ] as const) {
      utimesSync(join(tree.root, name), time, time);
    }
    expect((await glob(tree, "*.ts")).filenames).toEqual(["new.ts", "a.ts", "b.ts", "old.ts"]);
  });

  test("caps the answer and says so", async () => {
    using tree = makeTree(Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`f${n}`, ""])));
    expect(await glob(tree, "f*", { limit: 10 })).toMatchObject({ numFiles: 10, truncated: true });
    expect(await glob(tree, "f*", { limit: 12 })).toMatchObject({ numFiles: 12, truncated: false });
  });
});

describe("D6 glob_search", () => {
  test("leaves ignored and hidden files out", async () => {
    using tree = makeTree({
      ".git/HEAD": "",
      ".gitignore": "*.log\nout/",
      "a.log": "",
      "out/a.ts": "",
      "a.ts": "",
      ".b.ts": "",
    });
    expect(await names(tree, "**/*")).toEqual(["a.ts"]);
    expect(await names(tree, "*.log")).toEqual([]);
  });

  test("finds hidden and ignored files that are asked for by name", async () => {
    using tree = makeTree({
      ".git/HEAD": "",
      ".gitignore": "out/",
      ".github/workflows/ci.yml": "",
      "out/gen/a.ts": "",
      "s/.env": "",
    });
    expect(await names(tree, ".github/workflows/*.yml")).toEqual([".github/workflows/ci.yml"]);
    expect(await names(tree, "out/**/*.ts")).toEqual(["out/gen/a.ts"]);
    expect(await names(tree, "**/.env")).toEqual(["s/.env"]);
  });

  test("knows **, braces, classes and negation", async () => {
    using tree = makeTree({ "a.ts": "", "src/b.ts": "", "src/x/c.tsx": "", "src/x/d1.js": "", "src/x/d2.js": "" });
    expect(await names(tree, "src/**/*.{ts,tsx}")).toEqual(["src/b.ts", "src/x/c.tsx"]);
    expect(await names(tree, "src/*.ts")).toEqual(["src/b.ts"]);
    expect(await names(tree, "**/d[1].js")).toEqual(["src/x/d1.js"]);
    expect(await names(tree, "!*.js")).toEqual(["a.ts", "src/b.ts", "src/x/c.tsx"]);
    expect(await names(tree, "*.ts")).toEqual(["a.ts", "src/b.ts"]);
    expect(await names(tree, join(tree.root, "src/x/*.tsx"))).toEqual(["src/x/c.tsx"]);
  });

  test("lists a file that is the path itself whatever ignore files and globs say, and finds no names in it", async () => {
    using tree = makeTree({ ".ignore": "*.log\n", "out/a.log": "", "out/b.log": "" });
    const path = join(tree.root, "out/a.log");
    for (const rest of [{}, { globs: ["*.ts"] }, { types: ["rust"] }, { order: "path", limit: 0 }] as const)
      expect(await glob(tree, "**", { path, ...rest })).toMatchObject({ filenames: ["out/a.log"], totalFiles: 1 });
    expect(await names(tree, "**")).toEqual([]);
    await expect(glob(tree, "*.log", { path })).rejects.toMatchObject({ code: "fs.not_a_directory" });
    const view = { ...EVERYTHING, closedNames: ["a.log"] };
    const closed = (name: string) =>
      createSearch(view, NO_GIT_SETTINGS).glob({ pattern: "**", path: join(tree.root, name), limit: 9 }, NEVER);
    await expect(closed("out/a.log")).rejects.toMatchObject({ code: "sandbox.hidden" });
    expect((await closed("out/b.log")).filenames.list()).toEqual([join(tree.root, "out/b.log")]);
  });

  test("does not leave the folder, by the pattern or by a link", async () => {
    using outside = makeTree({ secret: "" });
    using tree = makeTree({ f: "" });
    symlinkSync(outside.root, join(tree.root, "link"));
    expect(await names(tree, "link/*")).toEqual([]);
    expect(await names(tree, "**/*")).toEqual(["f"]);
    await expect(glob(tree, "../*")).rejects.toMatchObject({ code: "search.bad_glob" });
    await expect(glob(tree, "/etc/*")).rejects.toMatchObject({ code: "search.bad_glob" });
  });
});
