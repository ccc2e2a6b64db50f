import { describe, expect, test } from "bun:test";
import { grantsWith, recordingSearch } from "../../../test/support/tool_calls.ts";
import { FileNames } from "../../contract/file_names.ts";
import { checkInput } from "../../dispatch/check_input.ts";
import { globSearch } from "./glob_search.ts";
import { grepSearch } from "./grep_search.ts";

const place = { cwd: "/w", home: "/h", workspace: "/w" };

/** The query that an input becomes, through the schema check. */
async function grepQuery(input: object): Promise<unknown> {
  const { search, queries } = recordingSearch();
  const { args, faults } = checkInput(grepSearch, input);
  expect(faults).toEqual([]);
  await grepSearch.run(args, grantsWith({ search }));
  return queries[0];
}

describe("grep_search", () => {
  test("A12 lists files and D7 stops at 250 unless told otherwise", async () => {
    expect(await grepQuery({ pattern: "x" })).toEqual({
      pattern: "x",
      path: ".",
      before: 0,
      after: 0,
      lineNumbers: true,
      letterCase: "sensitive",
      word: false,
      fixed: false,
      includeHidden: false,
      noIgnore: false,
      spans: false,
      multiline: false,
      mode: "files_with_matches",
      headLimit: 250,
      offset: 0,
    });
  });

  test("A5 hands on every field", async () => {
    const flags = { "-A": 1, "-B": 2, "-n": false, "-i": true, multiline: true, output_mode: "content" };
    const scope = { path: "src", glob: "*.ts", type: "ts", head_limit: 0, offset: 3 };
    expect(await grepQuery({ pattern: "x", ...flags, ...scope })).toEqual({
      pattern: "x",
      path: "src",
      globs: ["*.ts"],
      types: ["ts"],
      before: 2,
      after: 1,
      lineNumbers: false,
      letterCase: "ignore",
      word: false,
      fixed: false,
      includeHidden: false,
      noIgnore: false,
      spans: false,
      multiline: true,
      mode: "content",
      headLimit: 0,
      offset: 3,
    });
  });

  test("A5 -C is both sides, -A and -B are stronger, context is another name for it", async () => {
    expect(await grepQuery({ pattern: "x", "-C": 4, "-A": 0 })).toMatchObject({ before: 4, after: 0 });
    expect(await grepQuery({ pattern: "x", context: "2" })).toMatchObject({ before: 2, after: 2 });
  });

  test("A3 refuses an unknown mode and an unknown field", () => {
    const paths = (input: object) => checkInput(grepSearch, input).faults.map(({ path }) => path);
    expect(paths({ pattern: "x", output_mode: "lines", "-X": 1 }).sort()).toEqual(["/-X", "/output_mode"]);
    expect(paths({ pattern: "x", output_mode: "count" })).toEqual([]);
  });

  test("A12 answers in the seed's fields, and names skipped files only when there are some", async () => {
    const { search } = recordingSearch();
    const answer = await grepSearch.run({ pattern: "x" }, grantsWith({ search }));
    const fields = {
      mode: "files_with_matches",
      numFiles: 0,
      filenames: FileNames.of([]),
      content: "",
      numLines: 0,
      numMatches: 0,
      totalFiles: 0,
    };
    expect(answer).toEqual({ ...fields, truncated: false });
    const binary = {
      ...search,
      grep: async () => ({ ...(await search.grep(query, new AbortController().signal)), skipped }),
    };
    expect(await grepSearch.run({ pattern: "x" }, grantsWith({ search: binary }))).toMatchObject({
      skipped: { binary: 2, unreadable: 0, tooLarge: 0 },
    });
  });

  const skipped = { binary: 2, unreadable: 0, tooLarge: 0, unreadableNames: [] };
  const query = {
    pattern: "x",
    path: ".",
    before: 0,
    after: 0,
    lineNumbers: true,
    letterCase: "sensitive",
    multiline: false,
    mode: "count",
    headLimit: 0,
    offset: 0,
  } as const;
});

describe("glob_search", () => {
  test("A11 asks for a hundred names and answers in the seed's fields", async () => {
    const { search, queries } = recordingSearch();
    const answer = await globSearch.run({ pattern: "**/*.ts" }, grantsWith({ search }));
    expect(queries).toEqual([{ pattern: "**/*.ts", path: ".", limit: 100 }]);
    expect(answer).toEqual({
      durationMs: 1,
      numFiles: 1,
      totalFiles: 1,
      filenames: FileNames.of(["/a"]),
      truncated: false,
    });
  });

  test("C9 both search tools only read, and need just the folder they search", () => {
    for (const tool of [globSearch, grepSearch]) {
      expect([tool.readOnly({}), tool.concurrencySafe({}), tool.requires]).toEqual([true, true, "read-only"]);
      expect(tool.needs({ pattern: "x" }, place)).toEqual([{ kind: "fs.search", path: "." }]);
      expect(tool.needs({ pattern: "x", path: "a" }, place)).toEqual([{ kind: "fs.search", path: "a" }]);
    }
  });
});
