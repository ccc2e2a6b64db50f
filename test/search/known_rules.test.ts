/** D6 D7: ignore files are files too. One that is known from an earlier search is listed again for its rules, and counts once. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { IndexedTree } from "./indexed_tree.ts";

test("D6 D7 an ignore file that is known and listed for its rules is counted once, and so is one that has changed", async () => {
  using indexed = new IndexedTree({
    ".ignore": "# a needle\n",
    "inner/.gitignore": "# a needle\nf1\n",
    "inner/f2": "",
  });
  const { root } = indexed.tree;
  await indexed.ready();
  const names = async () => {
    const { filenames, totalFiles, index } = await indexed.find("needle", { includeHidden: true });
    return { filenames, total: totalFiles, remembered: index?.remembered };
  };
  const rules = [".ignore", "inner/.gitignore"];
  expect(await names()).toMatchObject({ filenames: rules, total: 2 });
  // Both folders are listed, with their rules, for files that are new.
  for (const folder of ["", "inner"]) writeFileSync(join(root, folder, "new"), "needle\n");
  const all = [...rules, "inner/new", "new"];
  expect(await names()).toEqual({ filenames: all, total: 4, remembered: 2 });
  writeFileSync(join(root, "inner/.gitignore"), "# a needle, and another\nf1\n");
  expect(await names()).toMatchObject({ filenames: all, total: 4 });
});
