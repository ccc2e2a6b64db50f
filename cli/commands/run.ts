// `run` reads its flags from the flag table without citty: in a compiled executable (Bun 1.4.5, bytecode, hyperfine, 60
// runs) an empty program takes 8.0 ms, one that imports citty and defines two flags 11.4 ms, and bwrap as a whole 5 ms.
import { closeSync, openSync } from "node:fs";
import { createCore, type CordonCore, openSettings } from "@cordon/core";
import {
  DEFAULT_SANDBOX_REQUEST,
  type Denial,
  type SandboxRequest,
  type ToolRequest,
  type ToolResult,
} from "@cordon/core/contract";
import type { Cli, Command } from "../command.ts";
import { EXIT, EXIT_MEANINGS, runExitCodeOf } from "../exit_codes.ts";
import { foldersOf, readFlags, usageFault } from "../flags.ts";
import { NOBODY } from "../nobody.ts";
import { noticeLines, tellNotices } from "../ui/settings_notices.ts";
import { createDenialReporter } from "../ui/denial_reporter.ts";
import { emptyRunDraft, RUN_FLAGS, type RunDraft } from "./run_flags.ts";

/** Handed on to the command. The launcher drops what a terminal has delivered already, to the whole foreground group. */
const FORWARDED = [
  "SIGINT",
  "SIGQUIT",
  "SIGTERM",
  "SIGHUP",
  "SIGUSR1",
  "SIGUSR2",
  "SIGWINCH",
  "SIGTSTP",
  "SIGCONT",
] as const;

/** `cordon run`: wraps a person's command. */
export const command: Command<RunDraft> = {
  name: "run",
  summary: "Run a command behind a sandbox",
  usage: "cordon run [flags] -- CMD [ARGS…]",
  details: `It may read system folders and the current folder, write the current folder and a private TMPDIR, and has no network but
a private loopback. Secrets are hidden; files that other tools obey can't be changed. What it is refused is told on stderr.
A PATH is relative to the current folder; repeat a flag, or write commas, for more than one.`,
  flags: RUN_FLAGS,
  examples: [
    ["cordon run -- npm test", "the tests, confined to this folder"],
    ["cordon run --allow-net -- npm install", "with network"],
    ["cordon run --allow-write=~/.cache/pip --timeout 2m -- pip download requests", "one more folder, two minutes"],
    ["cordon run --explain -- make", "what would be enforced, without running it"],
  ],
  run: runCommand,
};

/** What of the settings files concerns a person's own command: no rule for models does. */
const CONCERNS = ["sandbox", "mode"] as const;

async function runCommand(args: readonly string[], cli: Cli): Promise<number> {
  const draft = emptyRunDraft();
  const argv = readFlags(args, draft, { table: RUN_FLAGS, words: "command", folders: foldersOf(cli) });
  if (draft.help) return showHelp();
  if (argv.length === 0 || argv[0] === "")
    throw usageFault("No command was given", "write cordon run [flags] -- CMD ARGS…, see cordon run --help");
  if (draft.json && !draft.explain)
    throw usageFault("--json goes with --explain only", "use --events FILE for denials as JSON");
  const flags = args.slice(0, args.length - argv.length).filter((word) => word !== "--replan");
  const alone = needsNobodyAbove(draft, cli);
  const settings = await openSettings({ world: cli.world, profile: draft.profile, remember: alone });
  // A plan that is used again is used without a word, and what does not hold must be said each time.
  const replaceable = alone && noticeLines(settings, CONCERNS).length === 0;
  if (!replaceable) await tellNotices(cli, settings, CONCERNS);
  const core = createCore({
    world: cli.world,
    settings,
    ...(draft.mode ? { mode: draft.mode } : {}),
    asker: NOBODY,
    background: "refused",
    ...(replaceable ? { replace: { flags } } : {}),
  });
  try {
    const stdio = replaceable ? "replace" : "inherit";
    const input = { argv, sandbox: sandboxOf(draft), timeoutMs: draft.timeoutMs, stdio };
    const request: ToolRequest = { id: "run", door: "run", tool: "run", input, signal: new AbortController().signal };
    return draft.explain ? await explain(core, request, { draft, cli }) : await execute(core, request, { draft, cli });
  } finally {
    await core.close();
  }
}

/** True where this process may become the command's supervisor: nothing is asked for that only it can do. */
function needsNobodyAbove(draft: RunDraft, cli: Cli): boolean {
  const { explain, eventsFile, timeoutMs, limits } = draft;
  const alone = !explain && eventsFile === null && timeoutMs === null && limits.outputBytes === undefined;
  return alone && cli.world.platform === "linux";
}

function sandboxOf(draft: RunDraft): SandboxRequest {
  const { allowRead, allowWrite, denyRead, denyWrite, allowEnv, require } = draft;
  const { allowUnix, reportReads, limits } = draft;
  const trustFiles = draft.trustFiles ?? DEFAULT_SANDBOX_REQUEST.trustFiles;
  const network = draft.denyNet ? "blocked" : draft.allowNet ? "open" : "policy";
  return {
    allowRead,
    allowWrite,
    denyRead,
    denyWrite,
    network,
    allowEnv,
    require,
    trustFiles,
    allowUnix,
    reportReads,
    limits,
    ...(draft.trustFiles === undefined ? {} : { trustFilesAsked: true as const }),
  };
}

type Options = { draft: RunDraft; cli: Cli };

async function execute(core: CordonCore, request: ToolRequest, { draft, cli }: Options): Promise<number> {
  const events = draft.eventsFile === null ? null : openEvents(draft.eventsFile);
  const denials = createDenialReporter(events);
  // Also keeps this process alive until the command has ended.
  const stopListening = cli.onSignal(FORWARDED, (name) => {
    core.signal(name);
    // As without a listener: the shell waits for this process to stop, once the command has been told.
    if (name === "SIGTSTP") setImmediate(() => process.kill(process.pid, "SIGSTOP"));
  });
  try {
    const result = await core.dispatch({ ...request, onDenial: (denial: Denial) => denials.report(denial) });
    return await conclude(result, denials, { draft, cli });
  } finally {
    stopListening();
    if (events !== null) closeSync(events);
  }
}

async function conclude(
  result: ToolResult,
  denials: ReturnType<typeof createDenialReporter>,
  { draft, cli }: Options,
): Promise<number> {
  if (!result.ok) {
    denials.finish(result.meta.denials ?? [], "failed");
    const { showError } = await import("../ui/messages.ts");
    showError(cli, result.error);
    return runExitCodeOf(result.error.code);
  }
  denials.listTrusted(result.meta.trusted ?? []);
  const end = readEnd(result.output);
  const code = await codeOf(end);
  denials.finish(result.meta.denials ?? [], isExplained(code) ? "succeeded" : "failed");
  if (end.timedOut) {
    const { createMessages } = await import("../ui/messages.ts");
    createMessages(cli).warn(`ended after the time limit of ${draft.timeoutMs ?? 0} ms`);
  }
  return code;
}

/** A guess at the cause helps only where nothing else says why the command failed. */
function isExplained(code: number): boolean {
  return (
    code === EXIT.ok ||
    code === EXIT.timedOut ||
    code === EXIT.notFound ||
    code === EXIT.notExecutable ||
    code > EXIT.signalBase
  );
}

type End = { exitCode: number | null; signal: string | null; timedOut: boolean };

/** The output is any JSON to the door; of this tool it is an object with these fields. */
function readEnd(output: unknown): End {
  const fields: Partial<Record<string, unknown>> = typeof output === "object" && output !== null ? { ...output } : {};
  const { exitCode, signal, timedOut } = fields;
  return {
    exitCode: typeof exitCode === "number" ? exitCode : null,
    signal: typeof signal === "string" ? signal : null,
    timedOut: timedOut === true,
  };
}

async function codeOf(end: End): Promise<number> {
  if (end.timedOut) return EXIT.timedOut;
  if (end.signal !== null) return EXIT.signalBase + (await signalNumber(end.signal));
  return end.exitCode ?? EXIT.toolError;
}

async function signalNumber(name: string): Promise<number> {
  const { constants } = await import("node:os");
  const numbers: Partial<Record<string, number>> = constants.signals;
  return numbers[name] ?? 0;
}

async function explain(core: CordonCore, request: ToolRequest, { draft, cli }: Options): Promise<number> {
  const answer = await core.explain(request);
  if (!answer.ok) {
    const { showError } = await import("../ui/messages.ts");
    showError(cli, answer.error);
    return runExitCodeOf(answer.error.code);
  }
  const { writeAnswer } = await import("../ui/write_fully.ts");
  const { renderPlan } = await import("../ui/render_plan.ts");
  writeAnswer(draft.json ? `${JSON.stringify(answer.plan, null, 2)}\n` : renderPlan(answer.plan));
  return EXIT.ok;
}

function openEvents(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw usageFault(
      `--events: can't write ${JSON.stringify(path)}: ${error instanceof Error ? error.message : String(error)}`,
      "nothing was run; name a file that you can write",
    );
  }
}

async function showHelp(): Promise<number> {
  const { printHelp } = await import("../ui/help.ts");
  const codes = Object.entries(EXIT_MEANINGS).map(([code, meaning]) => `  ${code}  ${meaning}`);
  return printHelp(command, [`Exit codes (any other is the command's own):\n${codes.join("\n")}`]);
}
