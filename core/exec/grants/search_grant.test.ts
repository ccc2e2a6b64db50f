import { expect, test } from "bun:test";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultOf, temporaryFolder } from "../../../test/support/tool_calls.ts";
import { globSearch } from "../../tools/search/glob_search.ts";
import { createSearchGrant } from "./search_grant.ts";

const { signal } = new AbortController();

function searchIn(real: string, hidden: string[] = []) {
  return createSearchGrant(
    { paths: [{ given: ".", absolute: real, real, access: "read", exists: true }], hidden },
    { readable: async () => undefined, git: { home: "/nonexistent" } },
  );
}

function folderWithFiles(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "in"));
  writeFileSync(join(folder, "in", "shown.txt"), "needle");
  writeFileSync(join(folder, "in", "secret.txt"), "needle");
  return join(folder, "in");
}

const names = async (search: ReturnType<typeof searchIn>, path = ".") =>
  (await search.glob({ pattern: "**/*.txt", path, limit: 100 }, signal)).filenames.list().toSorted();

test("A11 a search of the working folder starts at the planned place, wherever this process is", async () => {
  const folder = folderWithFiles();
  expect(await names(searchIn(folder))).toEqual([join(folder, "secret.txt"), join(folder, "shown.txt")]);
  expect(globSearch.needs({ pattern: "*" }, { cwd: folder, home: "/", workspace: folder })).toMatchObject([
    { path: "." },
  ]);
});

test("D10 a search leaves out what the plan hides, also when it was asked for by a relative path", async () => {
  const folder = folderWithFiles();
  expect(await names(searchIn(folder, [join(folder, "secret.txt")]))).toEqual([join(folder, "shown.txt")]);
});

test("a search refuses a place that the plan does not list", async () => {
  const folder = folderWithFiles();
  expect((await faultOf(() => names(searchIn(folder), "/"))).code).toBe("sandbox.outside");
  expect(await names(searchIn(folder), folder)).toHaveLength(2);
});

test("a search refuses a folder that became a link, and one that is gone", async () => {
  const folder = folderWithFiles();
  const search = searchIn(folder);
  renameSync(folder, `${folder}-away`);
  expect((await faultOf(() => names(search))).code).toBe("fs.not_found");
  symlinkSync(`${folder}-away`, folder);
  expect((await faultOf(() => names(search))).code).toBe("fs.moved");
});
