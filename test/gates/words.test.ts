import { expect, test } from "bun:test";
import { committableSources } from "./tree.ts";
import { wordFaults } from "./words.ts";

test("names say something, and no text tells of one machine or of how it was made", () => {
  expect(wordFaults(committableSources())).toEqual([]);
});

test("the gate catches empty names, whole words only", () => {
  const paths = [
    "core/utils/a.ts",
    "core/path_helpers.ts",
    "core/manager.ts",
    "core/commonality.ts",
    "core/misconduct.ts",
  ];
  expect(wordFaults(paths.map((path) => ({ path, text: "" })))).toHaveLength(3);
});

test("the gate catches paths of one machine, and lets invented people live", () => {
  const lines = ["/root|/x.ts", "/work|/main", "/home|/mallory/x", "/home/alice/x", "a/work/b", "/root"];
  const text = lines.map((line) => `see ${line.replace("|", "")}`).join("\n");
  expect(wordFaults([{ path: "a.md", text }]).map((fault) => fault.split(":")[1])).toEqual(["1", "2", "3"]);
});

test("the gate catches registry hosts and absent documents", () => {
  const text = ["https://registry.npmjs.", "org/bun\nas DESIGN", ".md says"].join("");
  expect(wordFaults([{ path: "a.md", text }])).toHaveLength(2);
});
