import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../cli/build/cache.ts";
import { COMPONENTS } from "../../wasm/build.ts";
import { layerFaults } from "./layers.ts";
import { productSources } from "./sources.ts";

test("every folder imports only from folders to its left, and only the named places touch the world", () => {
  expect(layerFaults(productSources("without_tests"))).toEqual([]);
});

test("the gate catches an import from the right, a type import too", () => {
  const text = 'import type { Execute } from "../exec/execute.ts";\nimport { plan } from "./plan_call.ts";';
  expect(layerFaults([{ path: "core/sandbox/render.ts", text }])).toEqual([
    "core/sandbox/render.ts: imports core/exec/execute.ts, which is not to its left",
  ]);
});

test("the gate catches an import from a folder of the same row", () => {
  const text = 'export { ask } from "../hooks/ask.ts";';
  expect(layerFaults([{ path: "core/authorize/authorize.ts", text }])).toHaveLength(1);
});

test("the gate lets tools import the contract and nothing else", () => {
  const text = 'import { a } from "../../contract/tool.ts";\nimport { b } from "../../engine/search.ts";';
  expect(layerFaults([{ path: "core/tools/fs/read.ts", text }])).toEqual([
    "core/tools/fs/read.ts: imports core/engine/search.ts, which is not to its left",
  ]);
});

test("the gate catches files, processes, sockets and the environment outside their places", () => {
  const text = [
    'import { readFileSync } from "node:fs";',
    'import { spawn } from "node:child_process";',
    'import { connect } from "node:net";',
    "export const home = process.env.HOME ?? Bun.file('x').name;",
    "// process.env in a comment is no use",
  ].join("\n");
  const found = layerFaults([{ path: "core/output/cap.ts", text }]);
  expect(found.map((line) => line.replace(/, but.*/, ""))).toEqual([
    "core/output/cap.ts: uses node:fs",
    "core/output/cap.ts:4: uses Bun.file",
    "core/output/cap.ts: uses node:child_process",
    "core/output/cap.ts: uses node:net",
    "core/output/cap.ts:4: uses process.env",
  ]);
  expect(layerFaults([{ path: "core/exec/process/spawn.ts", text: text.replace("process.env.HOME ?? ", "") }])).toEqual(
    [],
  );
});

test("the gate keeps packages other than TypeBox out of the contract", () => {
  const text = 'import { Type } from "@sinclair/typebox";\nimport { log } from "consola";';
  expect(layerFaults([{ path: "core/contract/tool.ts", text }])).toHaveLength(1);
});

test("no component uses the other: wasm/build.ts makes each anew for changes to its own crate alone", () => {
  for (const name of COMPONENTS) {
    expect(readFileSync(join(ROOT, "wasm", name, "Cargo.toml"), "utf8")).not.toMatch(/\bpath\s*=/);
  }
});
