import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import fc from "fast-check";
import { type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { resolvePath } from "./resolve_path.ts";

const tree = () => tempFolder({ "app/note.txt": "x", "home/.ssh/id": "key", "other/secret": "x" });
const resolve = (folder: TempFolder, path: string) => resolvePath(path, folder.at("app"), folder.at("home"));
const refused = (folder: TempFolder, path: string, code: string) => {
  expect(() => resolve(folder, path)).toThrow(expect.objectContaining({ code }));
};

test("D4 a plain path, one with dots and an absolute one are the same file", () => {
  using folder = tree();
  for (const given of ["note.txt", "./note.txt", "../app/note.txt", "x/../note.txt", folder.at("app/note.txt")]) {
    expect(resolve(folder, given)).toEqual({
      given,
      absolute: folder.at("app/note.txt"),
      real: folder.at("app/note.txt"),
      exists: true,
      kind: "file",
    });
  }
});

test("D4 a tilde is the home folder only alone or before a slash", () => {
  using folder = tree();
  expect(resolve(folder, "~").real).toBe(folder.at("home"));
  expect(resolve(folder, "~/.ssh/id").real).toBe(folder.at("home/.ssh/id"));
  expect(resolve(folder, "~root").real).toBe(folder.at("app/~root"));
});

test("D4 a chain of links is followed to its end, the name that was given stays beside it", () => {
  using folder = tree();
  symlinkSync(folder.at("other"), folder.at("app/one"));
  symlinkSync("one", folder.at("app/two"));
  expect(resolve(folder, "two/secret")).toMatchObject({
    absolute: folder.at("app/two/secret"),
    real: folder.at("other/secret"),
    exists: true,
  });
});

test("D4 what is missing keeps its tail below the deepest folder that exists, links before it resolved", () => {
  using folder = tree();
  symlinkSync(folder.at("other"), folder.at("app/one"));
  expect(resolve(folder, "one/new/deep.txt")).toMatchObject({
    real: folder.at("other/new/deep.txt"),
    exists: false,
    kind: "missing",
  });
  expect(resolve(folder, "note.txt/below")).toMatchObject({ real: folder.at("app/note.txt/below"), exists: false });
  expect(resolve(folder, "/no-such-folder-here/x")).toMatchObject({ real: "/no-such-folder-here/x", exists: false });
});

test("D4 a circle of links and a link to nothing are refused", () => {
  using folder = tree();
  symlinkSync("b", folder.at("app/a"));
  symlinkSync("a", folder.at("app/b"));
  symlinkSync(folder.at("home/.bashrc"), folder.at("app/dangling"));
  refused(folder, "a", "fs.bad_path");
  refused(folder, "a/x", "fs.bad_path");
  refused(folder, "dangling", "fs.not_found");
  refused(folder, "dangling/x", "fs.not_found");
});

test("D4 a NUL, nothing at all, and more than the system takes are refused; the longest that fits is not", () => {
  using folder = tree();
  for (const path of ["", "a\0b", "a/".repeat(2048), "n".repeat(256)]) refused(folder, path, "fs.bad_path");
  expect(resolve(folder, "n".repeat(255)).kind).toBe("missing");
});

test("D4 folders and devices are told from files, and the root is a folder", () => {
  using folder = tree();
  mkdirSync(folder.at("app/sub"));
  expect(["sub", "note.txt", "/dev/null", "/", "/.."].map((path) => resolve(folder, path).kind)).toEqual([
    "folder",
    "file",
    "other",
    "folder",
    "folder",
  ]);
});

test("D4 a real path has no dots and no links left, whatever was given", () => {
  using folder = tree();
  symlinkSync(folder.at("other"), folder.at("app/one"));
  const part = fc.constantFrom("..", ".", "one", "note.txt", "new", "", "secret", "~");
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const given = parts.join("/");
      if (given === "") return;
      const { real } = resolve(folder, given);
      expect(resolve(folder, real).real).toBe(real);
      expect(real.startsWith("/") && !real.split("/").includes("..")).toBe(true);
    }),
    { numRuns: 300 },
  );
});
