/** The search component in two halves against the whole one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { GrepAnswer, GrepQuery } from "../../core/contract/search.ts";
import { instantiateSearch } from "../../core/engine/load.ts";
import { SearchEngine } from "../../core/engine/search.ts";
import { grepTree } from "../../core/exec/search/grep_tree.ts";

const GENERATED = join(import.meta.dir, "..", "..", "core", "engine", "generated");
const NO_REST = Promise.resolve("/nowhere");

const QUERY: GrepQuery = {
  pattern: "probe",
  path: "",
  includeHidden: false,
  before: 0,
  after: 0,
  lineNumbers: true,
  letterCase: "sensitive",
  word: false,
  multiline: false,
  mode: "content",
  headLimit: 0,
  offset: 0,
};

const FILES: Readonly<Record<string, string | Uint8Array>> = {
  "a.c": "int probe(void);\n\treturn Probe_2;\n",
  "greek.txt": "Ελλάδα probe\nλόγος\n\nΑθήνα\n",
  "wide.txt": Uint8Array.from([
    0xff,
    0xfe,
    ...Array.from("wide probe\n").flatMap((letter) => [letter.charCodeAt(0), 0]),
  ]),
  "in/.gitignore": "*.log\n",
  "in/b.log": "probe\n",
  "in/c.txt": "nothing\n",
};

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cordon-halves-"));
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function engine(name: string, rest?: Promise<string>): Promise<SearchEngine> {
  const module = new WebAssembly.Module(readFileSync(join(GENERATED, name)));
  return new SearchEngine(await instantiateSearch(module, rest));
}

async function search(by: SearchEngine, more: Partial<GrepQuery>): Promise<GrepAnswer> {
  const view = { hidden: [], closedNames: [".env"], sampleEndings: [] };
  const sight = { view, globalExcludes: undefined };
  return grepTree(by, sight, { ...QUERY, ...more, path: folder }, new AbortController().signal);
}

const PATTERNS: readonly Partial<GrepQuery>[] = [
  { pattern: "probe" },
  { pattern: "PROBE", letterCase: "ignore", mode: "count" },
  { pattern: "\\p{Greek}+ος$", word: true },
  { pattern: "λόγος\\s+\\p{Lu}", multiline: true },
  { pattern: "(?i)ἀθήνα|αθήνα" },
  { pattern: "^(\\w+\\s){1,30}probe|x{2,40}y", mode: "files_with_matches" },
];

describe("the search component in two halves", () => {
  test("A5 F3 finds what the whole component finds, whether the rest is needed or not", async () => {
    const [one, other] = [await engine("search.first.wasm"), await engine("search.core.wasm", NO_REST)];
    for (const more of PATTERNS) {
      const { filenames, numFiles, content, numMatches } = await search(one, more);
      const whole = await search(other, more);
      expect({ filenames, numFiles, content, numMatches }).toEqual({
        filenames: whole.filenames,
        numFiles: whole.numFiles,
        content: whole.content,
        numMatches: whole.numMatches,
      });
    }
  });

  test("A12 F3 a search for a word needs no rest, one by classes of letters over several lines does", async () => {
    const alone = await engine("search.first.wasm", NO_REST);
    rmSync(join(folder, "wide.txt"));
    expect((await search(alone, { mode: "files_with_matches" })).numFiles).toBe(3);
    await expect(search(alone, { pattern: "λόγος\\s+\\p{Lu}", multiline: true })).rejects.toThrow(
      WebAssembly.RuntimeError,
    );
  });
});
