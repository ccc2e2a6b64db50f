/** D6 D7: no event tells of a change by a second name on the folder of the first, so files are looked at where such a name may have come and gone. */
import { expect, test } from "bun:test";
import { appendFileSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeTree } from "../../core/exec/search/tree_fixture.ts";
import { IndexedTree } from "./indexed_tree.ts";

/** Writes by a name that nobody has seen yet. */
function write(file: string, second: string): void {
  linkSync(file, second);
  appendFileSync(second, "needle\n");
}

/** What becomes of that name. */
const WAYS: Record<string, (tree: string, file: string, outside: string) => void> = {
  "is removed": (tree, file) => {
    write(file, join(tree, "second"));
    rmSync(join(tree, "second"));
  },
  "is given to another file": (tree, file) => {
    write(file, join(tree, "second"));
    writeFileSync(join(tree, "other/aside"), "hay\n");
    renameSync(join(tree, "other/aside"), join(tree, "second"));
  },
  "is changed, and then given to another file": (tree, file) => {
    write(file, join(tree, "first"));
    renameSync(join(tree, "first"), join(tree, "other/first"));
    writeFileSync(join(tree, "aside"), "hay\n");
    renameSync(join(tree, "aside"), join(tree, "other/first"));
  },
  "is moved out of the tree": (tree, file, outside) => {
    write(file, join(tree, "third"));
    renameSync(join(tree, "third"), join(outside, "third"));
  },
  "is removed from a folder that is new": (tree, file) => {
    mkdirSync(join(tree, "new"));
    write(file, join(tree, "new/second"));
    rmSync(join(tree, "new/second"));
  },
  "goes with a folder that is new": (tree, file, outside) => {
    mkdirSync(join(tree, "newer"));
    write(file, join(tree, "newer/second"));
    renameSync(join(tree, "newer"), join(outside, "newer"));
  },
};

test("D6 D7 a change by a second name that is gone before its folder is read is seen", async () => {
  using outside = makeTree({});
  const names = Object.keys(WAYS).map((_, at) => `in/file${at}`);
  using indexed = new IndexedTree(Object.fromEntries(names.map((name) => [name, "hay\n"])));
  const { root } = indexed.tree;
  await indexed.ready();
  let left = 0;
  for (const [at, [what, change]] of Object.entries(WAYS).entries()) {
    expect((await indexed.find(`(?:needle|never${at})`)).filenames).toEqual(names.slice(0, at));
    change(root, join(root, names[at] ?? ""), outside.root);
    const { filenames, index } = await indexed.find("needle");
    const expected = { what, filenames: names.slice(0, at + 1), state: "used" };
    expect({ what, filenames, state: index?.state }).toMatchObject(expected);
    // What has a second name outside the tree is looked at by each search.
    if (what.startsWith("is moved out") || what.startsWith("goes")) left += 1;
    await indexed.ready(left);
  }
});
