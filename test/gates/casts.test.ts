import { expect, test } from "bun:test";
import { castFaults } from "./casts.ts";
import { readSources } from "./sources.ts";

test("stage types are stamped by their makers only, and no check is switched off", () => {
  const sources = readSources(["core", "cli", "wasm", "sandbox-native", "test"], [".ts"]);
  expect(castFaults(sources.filter((source) => !/\.d\.ts$|^test\/types\/refused\//.test(source.path)))).toEqual([]);
});

test("the gate catches a cast to a stage type outside its maker, in every spelling", () => {
  const text = [
    "const a = { call } as PlannedCall;",
    "const b = call as unknown as PlannedCall;",
    "const c = <PlannedCall>call;",
    "const d = calls as Promise<PlannedCall[]>;",
    "const e: PlannedCall = plan(call);",
  ].join("\n");
  const found = castFaults([{ path: "core/exec/execute.ts", text }]);
  expect(found.map((line) => line.split(": ")[0])).toEqual([1, 2, 3, 4].map((line) => `core/exec/execute.ts:${line}`));
  expect(castFaults([{ path: "core/sandbox/plan_call.ts", text }])).toEqual([]);
});

test("the gate catches any and switched-off checks", () => {
  const text = [
    "let a: any = 1;",
    "const b = a as any;",
    `// ${"@ts"}-ignore`,
    `/* ${"biome"}-ignore lint: x */`,
    "const many = 1;",
  ].join("\n");
  expect(castFaults([{ path: "core/a.ts", text }])).toEqual([
    "core/a.ts:1: any",
    "core/a.ts:2: any",
    `core/a.ts:3: ${"@ts"}-ignore switches a check off`,
    `core/a.ts:4: ${"biome"}-ignore switches a check off`,
  ]);
});
