import { expect, test } from "bun:test";
import { sizeFaults } from "./sizes.ts";
import { readSources } from "./sources.ts";

const body = (lines: number) => Array.from({ length: lines }, () => "  step();").join("\n");

test("functions, files and parameter lists stay short, in both languages", () => {
  const sources = readSources(["core", "cli", "wasm", "sandbox-native", "test"], [".ts", ".rs"]);
  expect(sizeFaults(sources.filter((source) => !source.path.endsWith(".d.ts")))).toEqual([]);
});

test("the gate catches a long function and lets one at the limit pass", () => {
  const long = { path: "core/a.ts", text: `export function a() {\n${body(59)}\n}\n` };
  expect(sizeFaults([long])).toEqual(["core/a.ts:1: function has 61 lines, the limit is 60"]);
  expect(sizeFaults([{ ...long, text: `export function a() {\n${body(58)}\n}\n` }])).toEqual([]);
});

test("the gate catches a fifth parameter", () => {
  const text = "const f = (a: A, b: B, c: C, d: D, e: E) => a;\n";
  expect(sizeFaults([{ path: "core/a.ts", text }])).toEqual(["core/a.ts:1: function has 5 parameters, the limit is 4"]);
});

test("the gate catches a long file, but not a long table", () => {
  expect(sizeFaults([{ path: "core/a.ts", text: body(401).concat("\n") }])).toHaveLength(1);
  const table = `export const A = {\n${"  a: 1,\n".repeat(500)}} satisfies Record<string, number>;\n`;
  expect(sizeFaults([{ path: "core/a.ts", text: table }])).toEqual([]);
});

test("the gate catches the same in Rust, and leaves the test module out", () => {
  const rust = (text: string) => sizeFaults([{ path: "wasm/a.rs", text }]);
  expect(rust(`impl A {\n    pub fn a(&self) {\n${body(59)}\n    }\n}\n`)).toEqual([
    "wasm/a.rs:2: function has 61 lines, the limit is 60",
  ]);
  expect(
    rust("fn a(\n    a: A,\n    b: Vec<(B, C)>,\n    c: C,\n    d: D,\n    e: E,\n) -> F {\n    x()\n}\n"),
  ).toEqual(["wasm/a.rs:1: function has 5 parameters, the limit is 4"]);
  expect(rust("fn a(&mut self, a: A, b: HashMap<B, C>, c: C, d: D) -> F {\n    x()\n}\n")).toEqual([]);
  expect(rust(body(401).concat("\n"))).toEqual(["wasm/a.rs: file has 401 lines, the limit is 400"]);
  expect(rust(`fn a() {}\n\n#[cfg(test)]\nmod tests {\n${body(500)}\n}\n`)).toEqual([]);
  expect(rust(`pub const T: &[u8] = &[\n${"    1,\n".repeat(500)}];\n`)).toEqual([]);
});
