import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { defineTool } from "../tools/define_tool.ts";
import { createRegistry } from "../tools/registry.ts";

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

test("A1 two tools that claim one name are refused, by name or alias and whatever the case; different names are not", () => {
  expect(() => createRegistry([tool("read"), tool("read")])).toThrow("two tools are named read");
  expect(() => createRegistry([tool("read", ["Cat"]), tool("cat")])).toThrow("two tools are named cat");
  expect(() => createRegistry([tool("read"), tool("show", ["READ"])])).toThrow("two tools are named READ");
  expect(createRegistry([tool("read"), tool("show")]).names("call")).toEqual(["read", "show"]);
});

test("A1 names and aliases are found in any case, and nothing else is", () => {
  const registry = createRegistry([tool("read_file", ["Read"])]);
  for (const name of ["read_file", "READ_FILE", "Read", "read"])
    expect(registry.find(name, "serve")?.name).toBe("read_file");
  for (const name of ["", "read file", "constructor", "__proto__", "reads"])
    expect(registry.find(name, "serve")).toBeUndefined();
});

test("C12 a tool for the person's door is not there for models, neither found nor named nor listed", () => {
  const registry = createRegistry([tool("bash"), tool("run", [], "run")]);
  for (const door of ["call", "serve"] as const) {
    expect(registry.find("run", door)).toBeUndefined();
    expect(registry.names(door)).toEqual(["bash"]);
  }
  expect(registry.all().map(({ name }) => name)).toEqual(["bash"]);
  expect(registry.find("run", "run")?.name).toBe("run");
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

test("C11 a schema is made at first use and once", () => {
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
  createRegistry([lazy]).all();
  expect(made).toBe(0);
  expect(lazy.params()).toBe(lazy.params());
  expect(made).toBe(1);
});
