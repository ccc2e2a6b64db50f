import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { isRefused, refuse } from "../contract/refuse.ts";
import { runHooks } from "../hooks/run_hooks.ts";
import { authorize } from "../authorize/authorize.ts";
import { validate } from "../dispatch/validate.ts";
import { execute } from "../exec/execute.ts";
import { planCall } from "../sandbox/plan_call.ts";
import { requestOf, smallCore } from "../testing/small_core.ts";
import { tempFolder } from "../testing/temp_folder.ts";
import { defineTool } from "../tools/define_tool.ts";
import { capOutput } from "./cap_output.ts";
import { TEXT_LIMIT_BYTES } from "./cap_text.ts";

/** The outcome of a real call whose tool returns `output`. */
async function outcomeOf(output: unknown) {
  using folder = tempFolder({ "app/": "" });
  const tool = defineTool({
    name: "give",
    description: "",
    requires: "read-only",
    params: () => Type.Object({}),
    title: () => "Give",
    needs: () => [],
    run: async () => output,
  });
  const core = smallCore({ folder, tools: [tool] });
  const valid = await validate(requestOf("give", {}), core.registry);
  const allowed = isRefused(valid) ? valid : await authorize(valid, core.authority);
  const hooked = isRefused(allowed) ? allowed : await runHooks(allowed, [], async () => allowed);
  const planned = isRefused(hooked) ? hooked : await planCall(hooked, core.planner);
  return isRefused(planned) ? planned : execute(planned, core.hosts);
}

const long = "ä".repeat(TEXT_LIMIT_BYTES);

test("B18 every long string is cut, at any depth, and all that went is counted", async () => {
  const capped = capOutput(await outcomeOf({ a: long, list: [long, "short"], n: 5, none: null }));
  if (!capped.ok) throw new Error(capped.failure.message);
  const { a, list, n, none } = capped.output as { a: string; list: string[]; n: number; none: null };
  expect([list[1], n, none]).toEqual(["short", 5, null]);
  for (const text of [a, list[0] ?? ""]) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(TEXT_LIMIT_BYTES + 50);
    expect(text).not.toContain("\ufffd");
  }
  expect(capped.droppedBytes).toBe(2 * TEXT_LIMIT_BYTES);
});

test("B18 output that fits is the very same value", async () => {
  const output = { text: "x".repeat(TEXT_LIMIT_BYTES), deep: { list: [1, "a", false] } };
  const capped = capOutput(await outcomeOf(output));
  expect(capped).toMatchObject({ ok: true, output, droppedBytes: 0 });
});

test("B18 what a command's collector dropped joins the count", async () => {
  const capped = capOutput(await outcomeOf({ stdout: long, droppedBytes: 7 }));
  expect(capped.droppedBytes).toBe(TEXT_LIMIT_BYTES + 7);
});

test("B18 message, hint and details of a failure are cut too", () => {
  const capped = capOutput(
    refuse({ code: "input.invalid", message: long, at: "validate", hint: long, details: [{ path: long }] }),
  );
  expect(JSON.stringify(capped).length).toBeLessThan(3 * TEXT_LIMIT_BYTES);
  expect(capped.droppedBytes).toBe(3 * TEXT_LIMIT_BYTES);
});

test("B18 a key named __proto__ in an output stays a key", async () => {
  const capped = capOutput(await outcomeOf(JSON.parse('{"__proto__":{"x":1}}')));
  expect(capped.ok && JSON.stringify(capped.output)).toBe('{"__proto__":{"x":1}}');
});
