import { expect, test } from "bun:test";
import { schemaOf } from "../dispatch/accept_input.ts";
import { checkInput } from "../dispatch/check_input.ts";
import { builtinTools } from "./builtin.ts";
import { run } from "./exec/run.ts";
import { createRegistry } from "./registry.ts";

const registry = createRegistry([run], async () => builtinTools());

test("A1 A2 the list is closed, and a model sees six of the tools", async () => {
  const seen = ["read_file", "write_file", "edit_file", "glob_search", "grep_search", "bash"];
  expect((await registry.all()).map(({ name }) => name)).toEqual(seen);
  expect(await registry.find("run", "call")).toBeUndefined();
  expect((await registry.find("run", "run"))?.name).toBe("run");
});

test("E11 other systems' names lead to the same tools", async () => {
  const names = {
    Read: "read_file",
    Write: "write_file",
    Edit: "edit_file",
    Glob: "glob_search",
    Grep: "grep_search",
    Bash: "bash",
  };
  for (const [alias, name] of Object.entries(names)) expect((await registry.find(alias, "call"))?.name).toBe(name);
  expect(checkInput(await registryTool("Read"), { file_path: "a" })).toMatchObject({ args: { path: "a" }, faults: [] });
});

test("A1 the required permissions are the seed's", async () => {
  const required: Record<string, string> = Object.fromEntries(
    (await registry.all()).map(({ name, requires }) => [name, requires]),
  );
  const read = { read_file: "read-only", glob_search: "read-only", grep_search: "read-only" };
  const write = { write_file: "workspace-write", edit_file: "workspace-write" };
  expect(required).toEqual({ ...read, ...write, bash: "danger-full-access" });
});

test("A3 every schema refuses unknown fields and describes each of its own", () => {
  for (const tool of builtinTools()) {
    const schema = schemaOf(tool);
    expect(schema.additionalProperties === false).toBe(true);
    for (const field of Object.values(schema.properties)) expect(field.description?.length).toBeGreaterThan(5);
    const refused: string[] = checkInput(tool, { no_such_field: 1 }).faults.map(({ path }) => path);
    expect(refused).toContain("/no_such_field");
    expect(Object.is(schemaOf(tool), schema)).toBe(true);
  }
});

async function registryTool(name: string) {
  const tool = await registry.find(name, "call");
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}
