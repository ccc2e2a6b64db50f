import { Type } from "@sinclair/typebox";
import { ToolFault } from "../../contract/fault.ts";
import type { CommandEnd } from "../../contract/grants.ts";
import type { Property } from "../../contract/plan.ts";
import { DEFAULT_SANDBOX_REQUEST, type SandboxRequest } from "../../contract/sandbox_request.ts";
import type { MeaningFault } from "../../contract/tool.ts";
import { defineTool } from "../define_tool.ts";

/** D8: two minutes unless the caller says otherwise, ten at most. */
const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

/** The sandbox fields of a call (A4, A15). */
type SandboxFields = {
  dangerouslyDisableSandbox?: boolean;
  namespaceRestrictions?: boolean;
  isolateNetwork?: boolean;
  filesystemMode?: "off" | "workspace-only" | "allow-list";
  allowedMounts?: string[];
  escalate?: { network?: boolean; write?: string[]; read?: string[] };
  justification?: string;
};

/**
 * Runs a shell command in the sandbox (A4, A13, A14). A failing command and a time-out are results, not errors. Errors:
 * sandbox.loosen_refused, sandbox.unenforced, exec.*.
 */
export const bash = defineTool({
  name: "bash",
  aliases: [], // Names ignore case, so "Bash" is found too.
  description:
    "Runs a bash command in the working folder, in a sandbox, without a terminal; stdin is empty. Each call is a new shell. " +
    "timeout is in milliseconds, 120000 by default and 600000 at most; when it is over the whole process tree is ended and " +
    "the result says interrupted. run_in_background returns a backgroundTaskId at once and the file that collects the " +
    "output. The sandbox fields can only ask for more protection than the policy gives. Where the sandbox refused something, " +
    "denials in the result says what. A command that can't do its work without it may ask a person for one exact thing more: " +
    "escalate names the folders or the network, justification says why; that asks each time, and is refused where nobody answers.",
  requires: "danger-full-access",
  params: () =>
    Type.Object(
      {
        command: Type.String({ minLength: 1, description: "The command, as typed into bash" }),
        timeout: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: MAX_TIMEOUT_MS,
            description: "Milliseconds; default 120000, none for a background task",
          }),
        ),
        description: Type.Optional(Type.String({ description: "What the command does, in a few words, for people" })),
        run_in_background: Type.Optional(
          Type.Boolean({ default: false, description: "Return at once and leave the command running" }),
        ),
        dangerouslyDisableSandbox: Type.Optional(
          Type.Boolean({ description: "true is refused without escalate: the sandbox is never lifted whole" }),
        ),
        namespaceRestrictions: Type.Optional(
          Type.Boolean({ description: "true demands that the command sees no other processes" }),
        ),
        isolateNetwork: Type.Optional(Type.Boolean({ description: "true demands that there is no network" })),
        filesystemMode: Type.Optional(
          Type.Union([Type.Literal("off"), Type.Literal("workspace-only"), Type.Literal("allow-list")], {
            description:
              "workspace-only demands that writes stay in the workspace, allow-list that they stay in allowedMounts; off is refused",
          }),
        ),
        allowedMounts: Type.Optional(
          Type.Array(Type.String({ minLength: 1 }), {
            description: "With allow-list: the folders the command may write to; [] is none",
          }),
        ),
        escalate: Type.Optional(
          Type.Object(
            {
              network: Type.Optional(Type.Boolean({ description: "true asks for the host's network" })),
              write: Type.Optional(escalatedPaths("Existing files or folders to write besides what the policy allows")),
              read: Type.Optional(escalatedPaths("Existing files or folders to read besides what the policy allows")),
            },
            {
              additionalProperties: false,
              description: "What this one command needs beyond the sandbox; a person is asked",
            },
          ),
        ),
        justification: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 1000,
            description: "With escalate: why, in a sentence for that person",
          }),
        ),
      },
      { additionalProperties: false },
    ),
  readOnly: () => false,
  concurrencySafe: () => false,
  title: (args) => args.description || `Run ${args.command?.split("\n", 1)[0] ?? "a command"}`,
  check: (args) => {
    if (args.command.includes("\0")) return [{ path: "/command", message: "has a NUL, which no command can have" }];
    const unfit = checkEscalation(args);
    const listed = args.allowedMounts !== undefined;
    if (unfit.length > 0 || listed === (args.filesystemMode === "allow-list")) return unfit;
    const message = listed
      ? "has no meaning without filesystemMode allow-list"
      : "is required by filesystemMode allow-list";
    return [{ path: "/allowedMounts", message, hint: "give both fields or neither" }];
  },
  needs: (args) => [
    {
      kind: "exec",
      command: args.command,
      argv: ["bash", "-c", args.command],
      sandbox: toSandboxRequest(args),
      ...(args.justification === undefined ? {} : { justification: args.justification }),
    },
  ],
  run: async (args, { exec }) => {
    if (args.run_in_background) {
      const { id, outputFile } = await exec.start({ timeoutMs: args.timeout ?? null });
      return { stdout: "", stderr: "", interrupted: false, backgroundTaskId: id, rawOutputPath: outputFile };
    }
    return toResult(await exec.run({ timeoutMs: args.timeout ?? DEFAULT_TIMEOUT_MS, stdio: "collect" }));
  },
});

function escalatedPaths(description: string) {
  return Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: 16, description });
}

/** An escalation names something and says why (E2), and does not ask for less and for more at once. */
function checkEscalation({ escalate, justification, filesystemMode, isolateNetwork }: SandboxFields): MeaningFault[] {
  if (escalate === undefined)
    return justification === undefined
      ? []
      : [{ path: "/justification", message: "has no meaning without escalate", hint: "leave it out" }];
  const { network, write = [], read = [] } = escalate;
  if (!network && write.length + read.length === 0)
    return [{ path: "/escalate", message: "names nothing", hint: "name network, write or read, or leave it out" }];
  if (justification === undefined)
    return [{ path: "/justification", message: "is required by escalate", hint: "say in a sentence why it is needed" }];
  const both =
    filesystemMode !== undefined ? "filesystemMode" : isolateNetwork && network ? "isolateNetwork" : undefined;
  if (both === undefined) return [];
  return [{ path: "/escalate", message: `asks for more where ${both} asks for less`, hint: "leave one of them out" }];
}

/** Fields that ask for less are refused and not ignored: a caller must not believe that it is outside the sandbox. */
function toSandboxRequest(args: SandboxFields): SandboxRequest {
  const { escalate } = args;
  if (args.dangerouslyDisableSandbox && !escalate) throw loosening("dangerouslyDisableSandbox is true");
  if (args.filesystemMode === "off") throw loosening('filesystemMode is "off"');
  const require: Property[] = [];
  if (args.filesystemMode !== undefined) require.push("fs.write_confined");
  if (args.namespaceRestrictions) require.push("proc.isolated");
  if (args.isolateNetwork) require.push("net.blocked");
  return {
    ...DEFAULT_SANDBOX_REQUEST,
    network: args.isolateNetwork ? "blocked" : escalate?.network ? "open" : "policy",
    allowWrite: escalate?.write ?? [],
    allowRead: escalate?.read ?? [],
    require,
    ...(args.allowedMounts === undefined ? {} : { onlyWrite: args.allowedMounts }),
  };
}

function loosening(found: string): ToolFault {
  return new ToolFault({
    code: "sandbox.loosen_refused",
    message: `Cannot run the command: ${found}, and a call can't ask for less protection than the policy gives`,
    hint: "Name what the command needs in escalate, with a justification: a person is asked then; or leave the field out",
  });
}

function toResult(end: CommandEnd) {
  const late = `Command exceeded timeout of ${end.limitMs} ms`;
  const stderr = end.timedOut ? [end.stderr.replace(/\n$/, ""), late].filter(Boolean).join("\n") : end.stderr;
  return {
    stdout: end.stdout,
    stderr,
    interrupted: end.timedOut || end.cancelled,
    returnCodeInterpretation: interpretEnd(end),
    exitCode: end.code,
    noOutputExpected: end.stdout === "" && stderr === "",
    sandboxStatus: { tier: end.enforced.tier, missing: missingFrom(end.enforced) },
    ...(end.denials.length > 0 ? { denials: end.denials } : {}),
    ...(end.trusted.length > 0 ? { changedTrustedFiles: end.trusted } : {}),
    ...(end.droppedBytes > 0 ? { droppedBytes: end.droppedBytes } : {}),
  };
}

/** What was wanted and not given: the model pays for every word, and what holds is no news. `meta.sandbox` has it all. */
function missingFrom({ properties }: CommandEnd["enforced"]): string[] {
  return Object.entries(properties).flatMap(([property, state]) => (state === "enforced" ? [] : [property]));
}

function interpretEnd(end: CommandEnd): string {
  if (end.timedOut) return "timeout";
  if (end.cancelled) return "cancelled";
  return end.signal === null ? `exit_code:${end.code}` : `signal:${end.signal}`;
}
