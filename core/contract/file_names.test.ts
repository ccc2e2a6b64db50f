import { describe, expect, test } from "bun:test";
import { FileNames } from "./file_names.ts";

/** Names as a search has them. */
function named(folder: string, names: readonly string[], end: "\n" | "\0" = "\n"): FileNames {
  const bytes = Buffer.from(names.map((name) => `${name}${end}`).join(""), "latin1");
  return new FileNames({ folder, bytes, end, count: names.length });
}

const keep = (folder: string) => folder;
const shownIn = (names: FileNames, folder: string, end: "\n" | "\0") =>
  Buffer.from(names.lines(() => folder, end) ?? "").toString("latin1");

describe("A11 names that were found", () => {
  test("are text for who wants text, whole and in order", () => {
    expect(named("/r/", ["a", "b/c"]).list()).toEqual(["/r/a", "/r/b/c"]);
    expect(named("", ["a\nb", "c"], "\0").list()).toEqual(["a\nb", "c"]);
    expect(named("/r/", []).list()).toEqual([]);
    expect(JSON.stringify({ filenames: named("/r/", ["a", 'q"']) })).toBe('{"filenames":["/r/a","/r/q\\""]}');
    expect(FileNames.of(["x", "y"]).list()).toEqual(["x", "y"]);
  });

  test("are written with another folder in front and another end", () => {
    const names = named("/r/", ["a", "b/c"]);
    expect(shownIn(names, "", "\n")).toBe("a\nb/c\n");
    expect(shownIn(names, "", "\0")).toBe("a\0b/c\0");
    expect(shownIn(names, "src/", "\n")).toBe("src/a\nsrc/b/c\n");
    expect(shownIn(named("/r/", ["a\nb", "c"], "\0"), "s/", "\n")).toBe("s/a\nb\ns/c\n");
    expect(shownIn(named("/r/", []), "s/", "\n")).toBe("");
    expect(named("/r/", ["a"]).lines(() => undefined, "\n")).toBeUndefined();
  });

  test("that are no UTF-8 are shown with a sign and written as they are", () => {
    const names = named("/r/", ["\xff", "\xc3\xa9"]);
    expect(names.list()).toEqual(["/r/\uFFFD", "/r/é"]);
    expect(shownIn(names, "é/", "\n")).toBe("\xc3\xa9/\xff\n\xc3\xa9/\xc3\xa9\n");
    expect(names.lines(keep, "\n")).toEqual(new Uint8Array(Buffer.from("/r/\xff\n/r/\xc3\xa9\n", "latin1")));
  });

  test("a byte order mark in front belongs to the name", () => {
    expect(new FileNames({ folder: "", bytes: Buffer.from("\uFEFFa\n"), end: "\n", count: 1 }).list()).toEqual([
      "\uFEFFa",
    ]);
  });

  test("that differ have other digests", () => {
    const digests = [named("/r/", ["a"]), named("/r/", ["b"]), named("/s/", ["a"]), named("/r/", ["a"], "\0")].map(
      (names) => JSON.stringify(names.digest((bytes) => Buffer.from(bytes).toString("hex"))),
    );
    expect(new Set(digests).size).toBe(4);
    expect(JSON.stringify(named("/r/", ["a"]).digest((bytes) => Buffer.from(bytes).toString("hex")))).toBe(
      digests[0] ?? "",
    );
  });
});
