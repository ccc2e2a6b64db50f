import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { authorize } from "../authorize/authorize.ts";
import { isRefused } from "../contract/refuse.ts";
import { DEFAULT_SANDBOX_REQUEST, type SandboxRequest } from "../contract/sandbox_request.ts";
import type { Need } from "../contract/tool.ts";
import { validate } from "../dispatch/validate.ts";
import { runHooks } from "../hooks/run_hooks.ts";
import { factsOf, WITHOUT_NAMESPACES } from "../testing/made_up_machine.ts";
import { requestOf, smallCore } from "../testing/small_core.ts";
import { type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { defineTool } from "../tools/define_tool.ts";
import { type CallPlanner, planCall } from "./plan_call.ts";

/** Plans a call with these needs through the real stages before: the plan, or the code of the refusal. */
async function plan(folder: TempFolder, needs: Need[], changes: Partial<CallPlanner> = {}) {
  const tool = defineTool({
    name: "need",
    description: "",
    requires: "read-only",
    params: () => Type.Object({}),
    title: () => "Need",
    needs: () => needs,
    run: async () => null,
  });
  // A request for more than the policy gives is asked about.
  const asker = { canAsk: () => true, ask: async () => ({ choice: "once" as const }) };
  const core = smallCore({ folder, tools: [tool], authority: { asker } });
  const valid = await validate(requestOf("need", {}), core.registry);
  const allowed = isRefused(valid) ? valid : await authorize(valid, core.authority);
  const hooked = isRefused(allowed) ? allowed : await runHooks(allowed, [], async () => allowed);
  if (isRefused(hooked)) throw new Error(hooked.failure.message);
  const planned = await planCall(hooked, {
    ...core.planner,
    platform: "linux",
    machine: async () => factsOf(),
    ...changes,
  });
  return isRefused(planned) ? planned.failure : planned.plan;
}

const exec = (sandbox: Partial<SandboxRequest> = {}): Need => ({
  kind: "exec",
  command: "make",
  argv: ["make"],
  sandbox: { ...DEFAULT_SANDBOX_REQUEST, ...sandbox },
});
const app = () => tempFolder({ "app/note.txt": "x", "app/sub/": "", "other/": "" });
const code = (value: string) => expect.objectContaining({ code: value, at: "plan" });

test("D1 on another system than Linux no command is planned, and files are", async () => {
  using folder = app();
  for (const platform of ["darwin", "win32", "freebsd"]) {
    expect(await plan(folder, [exec()], { platform })).toEqual(code("sandbox.unsupported"));
    expect(await plan(folder, [{ kind: "fs.read", path: "note.txt" }], { platform })).toMatchObject({
      files: { paths: [{ real: folder.at("app/note.txt") }] },
    });
  }
});

test("F2 a machine that can't give a must refuses with each property and what helps; a weaker demand is planned", async () => {
  using folder = app();
  const machine = async () => WITHOUT_NAMESPACES;
  expect(await plan(folder, [exec({ require: ["proc.isolated"] })], { machine })).toMatchObject({
    code: "sandbox.unenforced",
    at: "plan",
    message: expect.stringContaining("proc.isolated"),
    details: [{ property: "proc.isolated" }],
  });
  expect(await plan(folder, [exec()], { machine })).toMatchObject({ sandbox: { tier: "landlock" } });
});

test("A4 a model's list of writable folders narrows what the policy gives and never widens it", async () => {
  using folder = app();
  expect(await plan(folder, [exec({ onlyWrite: ["sub"] })])).toMatchObject({
    rules: { write: [folder.at("app/sub")] },
  });
  expect(await plan(folder, [exec({ onlyWrite: [] })])).toMatchObject({ rules: { write: [] } });
  for (const outside of ["../other", "/", "~", folder.at("other")])
    expect(await plan(folder, [exec({ onlyWrite: [outside] })])).toEqual(code("sandbox.loosen_refused"));
});

test("D1 a path that is allowed by name must exist, unless a rule closes that very name; any can be denied", async () => {
  using folder = app();
  for (const request of [{ allowRead: ["gone"] }, { allowWrite: ["gone"] }, { onlyWrite: ["gone"] }]) {
    expect(await plan(folder, [exec(request)])).toEqual(code("fs.not_found"));
  }
  expect(
    await plan(folder, [exec({ denyRead: ["gone"], denyWrite: ["note.txt", "new/one"], allowWrite: [".envrc"] })]),
  ).toMatchObject({
    rules: {
      protected: [{ path: folder.at("app/note.txt") }],
      denied: [
        { place: { path: folder.at("app/gone") }, unmounted: true },
        { place: { path: folder.at("app/note.txt") }, unmounted: false },
        { place: { path: folder.at("app/new/one") }, unmounted: true },
      ],
      opened: [{ place: { path: folder.at("app/.envrc") } }],
    },
  });
});

test("D1 the command's environment has only what passes, and says that it is inside", async () => {
  using folder = app();
  const environment = {
    PATH: "/bin",
    SECRET_TOKEN: "x",
    LD_PRELOAD: "/evil.so",
    HOME: "/elsewhere",
    CORDON_SANDBOX: "0",
  };
  const planned = await plan(folder, [exec()], { environment });
  expect(planned).toMatchObject({ sandbox: { command: { argv: ["make"], cwd: folder.at("app") } } });
  expect("sandbox" in planned && planned.sandbox?.command.env).toEqual({
    PATH: "/bin",
    HOME: folder.root,
    CORDON_SANDBOX: "1",
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "safe.bareRepository",
    GIT_CONFIG_VALUE_0: "explicit",
    GIT_CONFIG_KEY_1: "core.fsmonitor",
    GIT_CONFIG_VALUE_1: "false",
  });
});

test("D4 folders and devices are no files to read; a search may take a folder and gets what is hidden from it", async () => {
  using folder = tempFolder({ "app/.env": "x", "app/note.txt": "x", ".ssh/id_ed25519": "x" });
  expect(await plan(folder, [{ kind: "fs.read", path: "." }])).toEqual(code("fs.not_a_file"));
  expect(await plan(folder, [{ kind: "fs.read", path: "/dev/null" }])).toEqual(code("fs.not_a_file"));
  expect(await plan(folder, [{ kind: "fs.read", path: "note.txt" }])).toMatchObject({ files: { hidden: [] } });
  // What is named like a secret is left out by the search itself, at any depth, so nobody looks for it before.
  const found = await plan(folder, [{ kind: "fs.search", path: "." }]);
  expect(found).toMatchObject({ files: { hidden: expect.arrayContaining([folder.at(".ssh")]) } });
  expect(found).not.toMatchObject({ files: { hidden: expect.arrayContaining([folder.at("app/.env")]) } });
});

test("D4 a new file is planned for writing by its real name", async () => {
  using folder = app();
  expect(await plan(folder, [{ kind: "fs.write", path: "new/file.txt" }])).toEqual({
    files: {
      paths: [
        {
          given: "new/file.txt",
          absolute: folder.at("app/new/file.txt"),
          real: folder.at("app/new/file.txt"),
          access: "write",
          exists: false,
        },
      ],
      hidden: [],
    },
  });
});
