import { expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { addRules, builtinRules } from "../config/builtin_rules.ts";
import { isRefused } from "../contract/refuse.ts";
import type { Mode, RuleLists } from "../contract/verdict.ts";
import { validate } from "../dispatch/validate.ts";
import { compilePolicy, decide } from "../engine/policy.ts";
import { readTool, requestOf, smallCore } from "../testing/small_core.ts";
import { type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { defineTool } from "../tools/define_tool.ts";
import { authorize } from "./authorize.ts";

const shell = defineTool({
  name: "bash",
  description: "Runs a command",
  requires: "danger-full-access",
  params: () => Type.Object({ command: Type.String() }),
  title: (args) => `Run ${args.command}`,
  needs: () => [],
  run: async () => null,
});

/** The verdict of the real component under the built-in rules and these: who answered, or the refusal's code. */
async function judged(
  folder: TempFolder,
  request: ReturnType<typeof requestOf>,
  mode: Mode,
  rules: Partial<RuleLists> = {},
) {
  const compiled = await compilePolicy(
    addRules(builtinRules("/home/ada/.local/state/cordon"), { allow: [], ask: [], deny: [], ...rules }),
  );
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const core = smallCore({
    folder,
    tools: [{ ...readTool(), name: "read_file" }, shell],
    authority: { judge: async (question) => decide(compiled.policy, question), mode: { mode, origin: "the test" } },
  });
  const valid = await validate(request, core.registry);
  if (isRefused(valid)) throw new Error(valid.failure.message);
  const end = await authorize(valid, core.authority);
  return isRefused(end) ? end.failure.code : end.answeredBy;
}
const read = (path: string) => requestOf("read_file", { path });

test("D4 a file of the workspace may be read, a secret needs a person's answer", async () => {
  using folder = tempFolder({ "app/note.txt": "x", "app/.env": "x" });
  expect(await judged(folder, read("note.txt"), "workspace-write")).toBe("policy");
  expect(await judged(folder, read(".env"), "workspace-write")).toBe("policy.needs_answer");
});

test("D4 a link with an innocent name does not carry a call to a secret", async () => {
  using folder = tempFolder({ "app/note.txt": "x", ".ssh/id_ed25519": "key" });
  symlinkSync(folder.at(".ssh/id_ed25519"), folder.at("app/notes"));
  symlinkSync(folder.at("app/note.txt"), folder.at("app/link"));
  expect(await judged(folder, read("notes"), "workspace-write")).toBe("policy.needs_answer");
  expect(await judged(folder, read("link"), "workspace-write")).toBe("policy");
});

test("D1 a deny rule beats an allow rule and the mode", async () => {
  using folder = tempFolder({ "app/note.txt": "x" });
  const rule = (text: string) => ({ rule: text, layer: "flag", origin: "--deny" });
  expect(
    await judged(folder, read("note.txt"), "allow", {
      allow: [rule("Read(note.txt)")],
      deny: [rule("Read(note.txt)")],
    }),
  ).toBe("policy.denied");
  expect(await judged(folder, read("note.txt"), "allow", { allow: [rule("Read(note.txt)")] })).toBe("policy");
});
