import { expect, test } from "bun:test";
import { crateFaults, docFaults } from "./docs.ts";
import { readSources } from "./sources.ts";

test("every export of core and cli has a doc comment directly above it", () => {
  const sources = readSources(["core", "cli"], [".ts"]).filter((source) => !/\.(d|test)\.ts$/.test(source.path));
  expect(docFaults(sources)).toEqual([]);
});

test("every crate refuses public items without docs", () => {
  const rust = ["wasm", "sandbox-native"];
  expect(crateFaults(readSources(rust, ["Cargo.toml"]), readSources(rust, [".rs"]))).toEqual([]);
});

test("the gate catches an export without a comment, and one whose comment stands apart", () => {
  const text = [
    "/** The head of the file. */",
    "",
    "export const a = 1;",
    "// not a doc comment",
    "export function b(): void {}",
    "/** Fine. */",
    "export type C = string;",
    "const hidden = 2;",
    "export { hidden };",
  ].join("\n");
  expect(docFaults([{ path: "core/a.ts", text }])).toEqual([
    "core/a.ts:3: export a has no doc comment directly above",
    "core/a.ts:5: export b has no doc comment directly above",
  ]);
});

test("the gate catches a crate that lets items go without docs", () => {
  const manifest = { path: "wasm/x/Cargo.toml", text: '[package]\nname = "x"\n' };
  expect(crateFaults([manifest], [{ path: "wasm/x/src/lib.rs", text: "//! x\n" }])).toHaveLength(1);
  expect(crateFaults([manifest], [{ path: "wasm/x/src/lib.rs", text: "#![deny(missing_docs)]\n" }])).toEqual([]);
});
