import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { defineTool } from "../tools/define_tool.ts";
import { schemaOf } from "./accept_input.ts";
import { createRegistry } from "../tools/registry.ts";

const none = async () => [];

const tool = (name: string, aliases: string[] = [], doors: "all" | "run" = "all") =>
  defineTool({
    name,
    aliases,
    doors,
    description: name,
    requires: "read-only",
    params: () => Type.Object({}),
    title: () => name,
    needs: () => [],
    run: async () => null,
  });

test("A1 two tools that claim one name are refused, by name or alias and whatever the case; different names are not", async () => {
  const named = (...tools: ReturnType<typeof tool>[]) => createRegistry(tools, none).all();
  expect(named(tool("read"), tool("read"))).rejects.toThrow("two tools are named read");
  expect(named(tool("read", ["Cat"]), tool("cat"))).rejects.toThrow("two tools are named cat");
  expect(named(tool("read"), tool("show", ["READ"]))).rejects.toThrow("two tools are named read");
  expect(createRegistry([tool("read")], async () => [tool("Read")]).all()).rejects.toThrow("two tools are named read");
  expect(await createRegistry([tool("read")], async () => [tool("show")]).names("call")).toEqual(["read", "show"]);
});

test("A1 names and aliases are found in any case, and nothing else is", async () => {
  const registry = createRegistry([tool("read_file", ["Read"])], none);
  for (const name of ["read_file", "READ_FILE", "Read", "read"])
    expect((await registry.find(name, "serve"))?.name).toBe("read_file");
  for (const name of ["", "read file", "constructor", "__proto__", "reads"])
    expect(await registry.find(name, "serve")).toBeUndefined();
});

test("C12 a tool for the person's door is not there for models, neither found nor named nor listed", async () => {
  const registry = createRegistry([tool("run", [], "run")], async () => [tool("bash")]);
  for (const door of ["call", "serve"] as const) {
    expect(await registry.find("run", door)).toBeUndefined();
    expect(await registry.names(door)).toEqual(["bash"]);
  }
  expect((await registry.all()).map(({ name }) => name)).toEqual(["bash"]);
  expect((await registry.find("run", "run"))?.name).toBe("run");
});

test("a person's own tool is found without loading the others", async () => {
  const registry = createRegistry([tool("run", [], "run")], () => Promise.reject(new Error("loaded")));
  expect((await registry.find("run", "run"))?.name).toBe("run");
  expect(registry.find("bash", "run")).rejects.toThrow("loaded");
});

test("C9 a tool that says nothing about it is neither read-only nor safe beside others", () => {
  const plain = tool("plain");
  expect([plain.readOnly({}), plain.concurrencySafe({}), plain.decidedBy, plain.doors]).toEqual([
    false,
    false,
    "policy",
    "all",
  ]);
});

test("C11 a schema is made at first use and once", async () => {
  let made = 0;
  const lazy = defineTool({
    name: "lazy",
    description: "",
    requires: "read-only",
    title: () => "",
    needs: () => [],
    run: async () => null,
    params: () => {
      made++;
      return Type.Object({});
    },
  });
  await createRegistry([lazy], none).all();
  expect(made).toBe(0);
  expect(schemaOf(lazy)).toBe(schemaOf(lazy));
  expect(made).toBe(1);
});
