/** A core made of the real parts with small tools, for tests of the path. Nothing but tests imports this. */
import { Type } from "@sinclair/typebox";
import { type AuditLog, createAuditLog } from "../audit/audit.ts";
import { createApprovalBook } from "../authorize/approvals/book.ts";
import type { Authority, Judge } from "../authorize/authorize.ts";
import { resolvePath } from "../config/resolve_path.ts";
import { lookAtPaths, surveyPlaces } from "../config/survey.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { AnyTool, Place } from "../contract/tool.ts";
import type { Decision, Verdict } from "../contract/verdict.ts";
import type { Core } from "../dispatch/core.ts";
import { createLocalHost } from "../exec/hosts/local_host.ts";
import { openLauncher } from "../exec/process/launcher_file.ts";
import { createMachine } from "../exec/process/probe.ts";
import type { CallPlanner } from "../sandbox/plan_call.ts";
import { openAppendLog } from "../store/append_log.ts";
import { newGrantId, openGrantsFile } from "../store/grants_file.ts";
import { defineTool } from "../tools/define_tool.ts";
import { createRegistry } from "../tools/registry.ts";
import type { TempFolder } from "./temp_folder.ts";

/** A decision with nothing in it but the verdict and a reason. */
export function decisionOf(verdict: Verdict, reason = "the test says so"): Decision {
  return { verdict, reason, by: "rule", trace: [{ part: "call", verdict, by: "rule" }] };
}

/** Gives the same verdict for every question. */
export function judgeOf(verdict: Verdict): Judge {
  return async () => decisionOf(verdict);
}

/** A request as a door makes it; `signal` is never raised unless given. */
export function requestOf(tool: string, input: unknown, rest: Partial<ToolRequest> = {}): ToolRequest {
  return { id: "c1", door: "call", tool, input, signal: new AbortController().signal, ...rest };
}

/** A tool that gives its text back and needs nothing. */
export function echoTool(seen: string[] = []): AnyTool {
  return defineTool({
    name: "echo",
    aliases: ["Say"],
    description: "Gives the text back",
    requires: "read-only",
    params: () =>
      Type.Object(
        { text: Type.String(), times: Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })) },
        { additionalProperties: false },
      ),
    paramAliases: { message: "text" },
    readOnly: () => true,
    title: (args) => `Echo ${args.text}`,
    needs: () => [],
    run: async ({ text, times }) => {
      seen.push(text);
      return { said: text.repeat(times ?? 1) };
    },
  });
}

/** A tool that needs to read one file, and gives its text. */
export function readTool(): AnyTool {
  return defineTool({
    name: "peek",
    description: "Reads a file",
    requires: "read-only",
    params: () => Type.Object({ path: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
    title: (args) => `Peek at ${args.path}`,
    needs: (args) => [{ kind: "fs.read", path: args.path }],
    run: async (args, { fs }) => ({ text: Buffer.from(fs.read(args.path, 1000).bytes).toString() }),
  });
}

/** A tool that fails in a way it did not foresee. */
export function crashingTool(): AnyTool {
  return defineTool({
    name: "crash",
    description: "Throws",
    requires: "read-only",
    params: () => Type.Object({}, { additionalProperties: false }),
    title: () => "Crash",
    needs: () => [],
    run: async () => {
      throw new TypeError("nobody thought of this");
    },
  });
}

/** What a test sets in its core; everything else is the real part with the default of a quiet machine. */
export type SmallCore = {
  folder: TempFolder;
  tools: AnyTool[];
  authority?: Partial<Authority>;
  hooks?: Core["hooks"];
  audit?: AuditLog;
};

/** Makes the core. Its log is `audit.jsonl` in the folder, its workspace is the folder `app` in it, which must exist. */
export function smallCore({ folder, tools, authority = {}, hooks = [], audit }: SmallCore): Core {
  const place: Place = { cwd: folder.at("app"), home: folder.root, workspace: folder.at("app") };
  const uid = process.getuid?.() ?? 0;
  const resolve = (path: string) => resolvePath(path, place.cwd, place.home);
  const local = createLocalHost({
    background: "refused",
    stateFolder: folder.root,
    uid,
    open: () => openLauncher(folder.root, uid),
  });
  const machine = createMachine(local.launcher, folder.root);
  const planner: CallPlanner = {
    place,
    mode: "workspace-write",
    stateFolder: folder.at("state"),
    environment: {},
    platform: process.platform,
    resolve,
    machine: async () => machine.facts(),
    lookAt: lookAtPaths,
    survey: (paths, rules = []) => surveyPlaces(paths, { ...place, rules }, "/usr/bin:/bin"),
  };
  const asker = { canAsk: () => false, ask: async () => ({ choice: "deny" as const }) };
  return {
    audit: audit ?? auditIn(folder),
    registry: createRegistry(tools, async () => []),
    authority: {
      judge: judgeOf("allow"),
      mode: { mode: "workspace-write", origin: "the test" },
      place,
      resolve,
      asker,
      approvals: createApprovalBook({
        file: openGrantsFile(folder.at("state/grants.json"), uid),
        place,
        now: Date.now,
        newId: newGrantId,
      }),
      savable: true,
      searchPath: "/usr/bin:/bin",
      policy: () => "the policy of a test",
      ...authority,
    },
    hooks,
    planner,
    hosts: { local, readFilter: async () => undefined, git: { home: "/nonexistent" } },
  };
}

/** The real audit log on a real file in the folder, with real clocks. */
export function auditIn(folder: TempFolder): AuditLog {
  let log: ReturnType<typeof openAppendLog> | undefined;
  const open = () => {
    log ??= openAppendLog(folder.at("audit.jsonl"));
    return log;
  };
  const clock = {
    now: Date.now,
    monotonic: () => performance.now(),
    newId: () => crypto.randomUUID(),
    pid: process.pid,
  };
  return createAuditLog(open, clock);
}
