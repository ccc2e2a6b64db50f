/**
 * D6 D7: of a file that is known to have no NUL byte and no byte order mark a list of names reads the first lines, and no more if one of them
 * matches. What is known is never older than the call.
 */
import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { GrepQuery } from "../../core/contract/search.ts";
import { IndexedTree } from "./indexed_tree.ts";

/** Longer than what is read first. */
const HAY = "hay and more hay\n".repeat(2000);

/** Behind what is read first, and before the end. */
const LATE = 20_000;

const EARLY = `a needle\n${HAY}`;

/** Puts bytes into a file, so that it has the size and the time that it had. */
function putInto(file: string, bytes: string, at: number): void {
  const fd = openSync(file, "r+");
  writeSync(fd, bytes, at);
  closeSync(fd);
  utimesSync(file, 1_000_000, 1_000_000);
}

/** Each changes the file, which was known before, and says whether it is listed then. */
const CHANGES: Record<string, { listed: boolean; change: (file: string) => void }> = {
  "a NUL byte behind the match": { listed: false, change: (file) => putInto(file, "\0", LATE) },
  "text in its place": { listed: true, change: (file) => putInto(file, "-", LATE) },
  "a NUL byte at the end": { listed: false, change: (file) => appendFileSync(file, "\0") },
  "the NUL byte cut off": { listed: true, change: (file) => truncateSync(file, EARLY.length) },
  "a NUL byte before the match": { listed: false, change: (file) => putInto(file, "\0", 0) },
  "a match behind what is read first": { listed: true, change: (file) => writeFileSync(file, `${HAY}a needle`) },
  "no match": { listed: false, change: (file) => truncateSync(file, HAY.length) },
  "more at the end": { listed: true, change: (file) => appendFileSync(file, "needle") },
  "other line ends": { listed: true, change: (file) => writeFileSync(file, EARLY.replaceAll("\n", "\r\n")) },
  "UTF-16": { listed: true, change: (file) => writeFileSync(file, Buffer.from(`\uFEFF${EARLY}`, "utf16le")) },
  "UTF-16 without a mark": { listed: false, change: (file) => writeFileSync(file, Buffer.from(EARLY, "utf16le")) },
  "UTF-8 with a mark": { listed: true, change: (file) => writeFileSync(file, `\uFEFF${EARLY}`) },
  "one long line": { listed: true, change: (file) => writeFileSync(file, `${HAY.replaceAll("\n", " ")} needle`) },
  nothing: { listed: false, change: (file) => truncateSync(file, 0) },
  "another file in its place": {
    listed: true,
    change: (file) => {
      writeFileSync(join(dirname(file), "aside"), EARLY);
      renameSync(join(dirname(file), "aside"), file);
    },
  },
  "a link in its place": {
    listed: false,
    change: (file) => {
      rmSync(file);
      symlinkSync("other/f1", file);
    },
  },
};

const WAYS: readonly (Partial<GrepQuery> & { text?: string })[] = [
  {},
  { word: true },
  { letterCase: "ignore" },
  { text: "^a needle$" },
  { text: "\\Aa needle\\z" },
  { multiline: true },
  { text: "needle\\s", multiline: true },
  { invert: true },
  { maxCount: 1 },
  { mode: "files_without_match" },
  { mode: "count" },
  { mode: "content" },
];

test("D6 D7 a file that was changed just before is searched as it is, whatever was known of its first bytes", async () => {
  using indexed = new IndexedTree({ changing: EARLY, plain: EARLY, binary: `${EARLY}\0` });
  const file = join(indexed.tree.root, "changing");
  let asked = 0;
  const compare = async (what: string) => {
    for (const { text = "needle", ...rest } of WAYS) {
      // Nobody has asked for this yet.
      asked += 1;
      const { warm, cold, used } = await indexed.findTwice(`(?:never${asked}|${text})`, rest);
      expect({ what, text, rest, used, found: warm }).toEqual({ what, text, rest, used: true, found: cold });
    }
  };
  await indexed.ready();
  await compare("unchanged");
  for (const [what, { listed, change }] of Object.entries(CHANGES)) {
    change(file);
    const { filenames } = await indexed.find(`(?:${what}|needle)`);
    expect({ what, filenames }).toEqual({ what, filenames: listed ? ["changing", "plain"] : ["plain"] });
    await compare(what);
    await indexed.ready();
    await compare(`${what}, and known`);
  }
});

/** Bytes that this process has read from whatever there is (proc_pid_io(5)). */
function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

test("D6 a list of names reads the first bytes of files that match there, and a count all of them", async () => {
  const [files, text] = [50, `a needle\n${HAY.repeat(20)}`];
  const many = Object.fromEntries(Array.from({ length: files }, (_, at) => [`long/f${at}`, text]));
  using indexed = new IndexedTree(many);
  await indexed.ready();
  const read = async (mode: "files_with_matches" | "count", pattern: string) => {
    const before = bytesRead();
    expect((await indexed.find(pattern, { mode })).totalFiles).toBe(files);
    return bytesRead() - before;
  };
  // Other tests may read at the same time.
  const lists = [];
  for (const pattern of ["needle", "a needle", "a need", "^a needle$"])
    lists.push(await read("files_with_matches", pattern));
  expect(Math.min(...lists)).toBeLessThan((files * text.length) / 10);
  expect(await read("count", "eedle")).toBeGreaterThanOrEqual(files * text.length);
});
