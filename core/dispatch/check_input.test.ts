import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import fc from "fast-check";
import { defineTool } from "../tools/define_tool.ts";
import { acceptInput } from "./accept_input.ts";
import { checkInput } from "./check_input.ts";

const tool = defineTool({
  name: "sample",
  description: "A tool with one field of every kind",
  requires: "read-only",
  params: () =>
    Type.Object(
      {
        path: Type.String({ minLength: 1, maxLength: 100 }),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
        ratio: Type.Optional(Type.Number()),
        deep: Type.Optional(Type.Boolean({ default: false })),
        mode: Type.Optional(Type.Union([Type.Literal("fast"), Type.Literal("exact")])),
        nested: Type.Optional(Type.Object({ depth: Type.Integer() }, { additionalProperties: false })),
      },
      { additionalProperties: false },
    ),
  paramAliases: { file_path: "path" },
  title: () => "Sample",
  needs: () => [],
  run: async () => null,
});

const check = (input: unknown) => checkInput(tool, input);
/** As it arrives at a door: only JSON.parse makes own keys such as __proto__. */
const parsed = (json: string) => check(JSON.parse(json));

test("A3 an unknown field is named by its JSON pointer, with the name that was meant; the right name passes", () => {
  expect(check({ path: "a", limti: 3 }).faults).toEqual([
    {
      path: "/limti",
      message: "is not a field of this tool",
      expected: "no such field",
      received: "number 3",
      hint: "did you mean limit?",
    },
  ]);
  expect(check({ path: "a", limit: 3 }).faults).toEqual([]);
});

test("A3 an unknown field inside an object is named there, with that object's fields", () => {
  expect(check({ path: "a", nested: { depth: 1, colour: 2 } }).faults).toEqual([
    {
      path: "/nested/colour",
      message: "is not a field of this tool",
      expected: "no such field",
      received: "number 2",
      hint: "known fields: depth",
    },
  ]);
  expect(check({ path: "a", nested: { depth: 1 } }).faults).toEqual([]);
});

test("A3 a pointer escapes slash and tilde as RFC 6901 says", () => {
  expect(check({ path: "a", "x/y~z": 1 }).faults.map(({ path }) => path)).toEqual(["/x~1y~0z"]);
});

test("A3 every fault is found at once, each place once", () => {
  const { faults } = check({ limit: 20, deep: "maybe", mode: "slow", extra: null });
  expect(faults.map(({ path }) => path).sort()).toEqual(["/deep", "/extra", "/limit", "/mode", "/path"]);
});

test("A3 a missing field, a wrong type and a broken bound each say what is wanted and what came", () => {
  const said = (input: unknown) => check(input).faults.map(({ path, message }) => `${path} ${message}`);
  expect(said({})).toEqual(["/path is required"]);
  expect(said({ path: 5 })).toEqual([
    "/path expected string, at least 1 character, at most 100 characters, received number 5",
  ]);
  expect(said({ path: "" })).toEqual([
    '/path expected string, at least 1 character, at most 100 characters, received ""',
  ]);
  expect(said({ path: "a", limit: 10 })).toEqual([
    "/limit expected integer, at least 1, at most 9, received number 10",
  ]);
  expect(said({ path: "a", limit: 1.5 })).toEqual([
    "/limit expected integer, at least 1, at most 9, received number 1.5",
  ]);
  expect(said({ path: "a", mode: "slow" })).toEqual(['/mode expected "fast" or "exact", received "slow"']);
  expect(said({ path: "a", limit: 9, mode: "exact" })).toEqual([]);
});

test("C11 numbers and booleans that came as text are taken and reported", () => {
  const { args, faults, coercions } = check({ path: "a", limit: "5", ratio: "-0.5", deep: "true" });
  expect(faults).toEqual([]);
  expect(args).toEqual({ path: "a", limit: 5, ratio: -0.5, deep: true });
  expect(coercions).toEqual([
    { path: "/limit", from: '"5"', to: "5" },
    { path: "/ratio", from: '"-0.5"', to: "-0.5" },
    { path: "/deep", from: '"true"', to: "true" },
  ]);
});

test.each(["", " 5", "5 ", "0x5", "1e1", "five", "5,0", "NaN", "Infinity", "9".repeat(16)])(
  "C11 %j is no number",
  (text) => {
    expect(check({ path: "a", limit: text }).faults.map(({ path }) => path)).toEqual(["/limit"]);
  },
);

test.each(["True", "1", "yes", " true", ""])("C11 %j is no boolean", (text) => {
  expect(check({ path: "a", deep: text }).faults.map(({ path }) => path)).toEqual(["/deep"]);
});

test("C11 text is never changed, whatever it looks like, and nothing else becomes text", () => {
  for (const path of ["5", "true", "null", " ~/a ", "a\u0000b"])
    expect(check({ path })).toEqual({ args: { path, deep: false }, faults: [], coercions: [] });
  expect(check({ path: true }).faults).toHaveLength(1);
});

test("C11 null for an optional field is its absence and is reported; for a required one it is a fault", () => {
  const { args, faults, coercions } = check({ path: "a", limit: null });
  expect({ args, faults }).toEqual({ args: { path: "a", deep: false }, faults: [] });
  expect(coercions).toEqual([{ path: "/limit", from: "null", to: "absent" }]);
  expect(check({ path: null }).faults.map(({ path, received }) => [path, received])).toEqual([["/path", "null"]]);
});

test("C11 an alias stands for its parameter and never overrides it", () => {
  const alone = check({ file_path: "b" });
  expect(alone.args).toEqual({ path: "b", deep: false });
  expect(alone.coercions).toEqual([{ path: "/file_path", from: "file_path", to: "path" }]);
  for (const both of [
    { path: "a", file_path: "b" },
    { file_path: "b", path: "a" },
  ]) {
    expect(check(both).faults.map(({ path }) => path)).toEqual(["/file_path"]);
  }
});

test("A3 keys of the prototype are unknown fields like any other and change no object", () => {
  const found = parsed('{"path":"a","__proto__":{"limit":1},"constructor":1,"toString":2,"hasOwnProperty":3}');
  expect(found.faults.map(({ path }) => path).sort()).toEqual([
    "/__proto__",
    "/constructor",
    "/hasOwnProperty",
    "/toString",
  ]);
  expect(Reflect.get({}, "limit")).toBeUndefined();
  expect(parsed('{"__proto__":{"path":"a"}}').faults.map(({ path }) => path)).toContain("/path");
});

test("A3 whatever is no object is no input", () => {
  for (const input of [null, undefined, "text", 5, true, [], [{ path: "a" }]]) {
    expect(check(input).faults.map(({ path, expected }) => [path, expected])).toEqual([["", "object"]]);
  }
  expect(check({ path: "a" }).faults).toEqual([]);
});

test("A3 the caller's object is left as it was", () => {
  const input = { file_path: "a", limit: "5", mode: null, nested: { depth: 1 } };
  const before = structuredClone(input);
  check(input);
  expect(input as unknown).toEqual(before);
});

const valid = fc.record(
  {
    path: fc.string({ minLength: 1, maxLength: 100 }),
    limit: fc.integer({ min: 1, max: 9 }),
    ratio: fc.double({ noNaN: true, noDefaultInfinity: true }),
    deep: fc.boolean(),
    mode: fc.constantFrom("fast", "exact"),
    nested: fc.record({ depth: fc.integer() }),
  },
  { requiredKeys: ["path", "deep"] },
);

test("A3 C11 any valid input passes unchanged and without a coercion", () => {
  fc.assert(
    fc.property(valid, (input) => {
      expect(check(input)).toEqual({ args: input, faults: [], coercions: [] });
      expect(acceptInput(tool, input)).toEqual({ args: input, coercions: [] });
    }),
    { numRuns: 300 },
  );
});

test("A3 any valid input with any unknown key is refused, and the key is named", () => {
  const known = ["path", "limit", "ratio", "deep", "mode", "nested"];
  const key = fc
    .oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "Path", "path "))
    .filter((name) => !known.includes(name) && name !== "file_path");
  fc.assert(
    fc.property(valid, key, fc.jsonValue(), (input, name, value) => {
      const json = `{${JSON.stringify(name)}:${JSON.stringify(value)},${JSON.stringify(input).slice(1)}`;
      const pointer = `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      expect(parsed(json).faults.map(({ path }) => path)).toEqual([pointer]);
      expect(acceptInput(tool, JSON.parse(json))).toBeUndefined();
    }),
    { numRuns: 300 },
  );
});

test("A3 C11 what is accepted without a look at faults is what has none", () => {
  const some = fc.record({
    path: fc.anything(),
    limit: fc.anything(),
    mode: fc.anything(),
    nested: fc.anything(),
    deep: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.oneof(some, valid), (input) => {
      const { faults, ...rest } = check(input);
      expect(acceptInput(tool, input)).toEqual(faults.length === 0 ? rest : undefined);
    }),
    { numRuns: 1000 },
  );
});
