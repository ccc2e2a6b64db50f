import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import type { Denial } from "../../contract/denial.ts";
import type { CommandEnd, ExecGrant } from "../../contract/grants.ts";
import type { ToolRequest } from "../../contract/request.ts";
import { DEFAULT_SANDBOX_REQUEST } from "../../contract/sandbox_request.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { dispatch } from "../../dispatch/dispatch.ts";
import { processesWith } from "../../testing/sandboxed_command.ts";
import { requestOf, smallCore } from "../../testing/small_core.ts";
import { type TempFolder, tempFolder } from "../../testing/temp_folder.ts";
import { defineTool } from "../../tools/define_tool.ts";
import { createLocalHost } from "../hosts/local_host.ts";
import { openLauncher } from "../process/launcher_file.ts";

/** A tool with a shell command in its plan that uses its handle as `use` says. */
function shellTool(use: (exec: ExecGrant) => Promise<unknown>, plans: "command" | "nothing" = "command"): AnyTool {
  return defineTool({
    name: "shell",
    description: "",
    requires: "danger-full-access",
    params: () => Type.Object({ script: Type.String() }),
    title: () => "Shell",
    needs: ({ script }) =>
      plans === "nothing"
        ? []
        : [{ kind: "exec", command: script, argv: ["sh", "-c", script], sandbox: DEFAULT_SANDBOX_REQUEST }],
    run: async (_, { exec }) => use(exec),
  });
}
const toEnd = (exec: ExecGrant) => exec.run({ timeoutMs: 20_000, stdio: "collect" });

async function run(
  folder: TempFolder,
  script: string,
  parts: { use?: (exec: ExecGrant) => Promise<unknown>; request?: Partial<ToolRequest>; plans?: "nothing" } = {},
) {
  const core = smallCore({ folder, tools: [shellTool(parts.use ?? toEnd, parts.plans)] });
  core.planner = { ...core.planner, environment: { PATH: "/usr/bin:/bin" } };
  return dispatch(requestOf("shell", { script }, parts.request), core);
}

test("F3 a command's end, and what enforced it, are in the result", async () => {
  using folder = tempFolder({ "app/": "" });
  const result = await run(folder, "echo hi; exit 3");
  expect(result).toMatchObject({
    ok: true,
    output: { stdout: "hi\n", code: 3, signal: null, timedOut: false, droppedBytes: 0 },
    meta: { sandbox: { properties: { "fs.write_confined": "enforced" } } },
  });
});

test("A25 each refusal is told once while it happens and again in the result, with its flag", async () => {
  using folder = tempFolder({ "app/": "", "outside/": "" });
  const told: Denial[] = [];
  const target = folder.at("outside/x");
  const result = await run(folder, `for n in 1 2 3; do echo x > ${target}; done; false`, {
    request: { onDenial: (denial) => told.push(denial) },
  });
  expect(told).toMatchObject([{ op: "write", path: target, grant: `--allow-write=${folder.at("outside")}` }]);
  expect(result.meta.denials).toEqual(told);
});

test("A25 a guess is made only where a command failed and nothing was seen", async () => {
  using folder = tempFolder({ "app/.env": "KEY=1", "outside/": "" });
  const guesses = async (script: string) =>
    ((await run(folder, script)).meta.denials ?? []).map(({ guess }) => guess ?? false);
  expect(await guesses("grep KEY .env")).toEqual([true]);
  expect(await guesses("true")).toEqual([]);
  expect(await guesses(`echo x > ${folder.at("outside/x")}`)).toEqual([false]);
});

test("F3 a tool whose plan has no command gets no command run", async () => {
  using folder = tempFolder({ "app/": "" });
  expect(await run(folder, "touch ran", { plans: "nothing" })).toMatchObject({
    ok: false,
    error: { code: "sandbox.outside" },
  });
  expect(readdirSync(folder.at("app"))).toEqual([]);
});

test("A24 the shorter of the tool's and the caller's time limits holds", async () => {
  using folder = tempFolder({ "app/": "" });
  const timedOut = async (tool: number | null, caller: number) => {
    const result = await run(folder, "sleep 30", {
      use: (exec) => exec.run({ timeoutMs: tool, stdio: "collect" }),
      request: { timeoutMs: caller },
    });
    return result.ok && (result.output as CommandEnd).timedOut;
  };
  expect([await timedOut(20_000, 100), await timedOut(100, 20_000), await timedOut(null, 100)]).toEqual([
    true,
    true,
    true,
  ]);
});

test("F3 a background command is refused where the process will not last", async () => {
  using folder = tempFolder({ "app/": "" });
  expect(await run(folder, "true", { use: (exec) => exec.start({ timeoutMs: null }) })).toMatchObject({
    ok: false,
    error: { code: "exec.background_unavailable" },
  });
});

test("F3 a background command writes its file, which only this user can read, and ends when the host closes", async () => {
  using folder = tempFolder({ "app/": "" });
  const marker = `3${Math.floor(Math.random() * 1e9)}`;
  const uid = process.getuid?.() ?? 0;
  const local = createLocalHost({
    background: "allowed",
    stateFolder: folder.root,
    uid,
    open: () => openLauncher(folder.root, uid),
  });
  const core = {
    ...smallCore({ folder, tools: [shellTool((exec) => exec.start({ timeoutMs: null }))] }),
    hosts: { local, readFilter: async () => undefined, git: { home: "/nonexistent" } },
  };
  core.planner = { ...core.planner, environment: { PATH: "/usr/bin:/bin" } };
  const result = await dispatch(requestOf("shell", { script: `echo begun; sleep ${marker}` }), core);
  if (!result.ok) throw new Error(result.error.message);
  const { outputFile } = result.output as { outputFile: string };
  expect(await processesWith(marker, 1)).toBe(1);
  expect(readFileSync(outputFile, "utf8")).toBe("begun\n");
  await local.close();
  expect(await processesWith(marker, 0)).toBe(0);
});
