import { closeSync, existsSync, openSync, constants as fs } from "node:fs";
import { dirname, join } from "node:path";
import type { PlannedCall } from "../../contract/call.ts";
import type { Denial, TrustedChange } from "../../contract/denial.ts";
import type { ObservedChange, ObservedDenial } from "../../contract/enforced.ts";
import { ToolFault } from "../../contract/fault.ts";
import type { BackgroundTask, CommandEnd, ExecGrant } from "../../contract/grants.ts";
import type { LinuxPlan } from "../../contract/plan.ts";
import type { IndexNote } from "../../contract/search.ts";
import type { SandboxPolicy } from "../../contract/sandbox_policy.ts";
import { explainDenial, guessHiddenRead } from "../../sandbox/explain_denial.ts";
import { changedSince } from "../../store/file_mark.ts";
import { privateFolder } from "../../store/paths.ts";
import type { LocalHost } from "../hosts/local_host.ts";
import { type LaunchEnd, launch } from "../process/launch.ts";

/** What a command's end, or a search, adds to the outcome of its call. */
export type ExecRecord = {
  enforced?: CommandEnd["enforced"];
  denials: Denial[];
  trusted: TrustedChange[];
  index?: IndexNote;
};

/** The most events of one command; a program that tries in a loop must not fill the result. */
const DENIALS_LIMIT = 100;

/** The most changed files that are named; a checkout may touch thousands. */
const TRUSTED_LIMIT = 500;

/** A handle on the one command of a planned call. What the sandbox did is written into `record`. */
export function createExecGrant(call: PlannedCall, host: LocalHost, record: ExecRecord): ExecGrant {
  const planned = () => {
    const { sandbox, rules } = call.plan;
    if (sandbox && rules) return { sandbox, rules };
    throw new ToolFault({ code: "sandbox.outside", message: `${call.tool.name} has no command in its plan` });
  };
  return {
    run: async ({ timeoutMs, stdio, outputBytes }) => {
      const { sandbox, rules } = planned();
      requireApproved(call);
      const seen = denialRecorder(rules, call, record.denials);
      const { signal, onOutput } = call.request;
      const launcher = host.launcher();
      const limitMs = shorter(timeoutMs, call.request.timeoutMs);
      if (stdio === "replace" && outputBytes === undefined) host.replace?.({ call, plan: sandbox, rules, launcher });
      const running = launch({
        plan: sandbox,
        launcher,
        stdio: stdio === "collect" ? "collect" : "inherit",
        ...(outputBytes === undefined ? {} : { outputBytes }),
        timeoutMs: limitMs,
        signal,
        onDenial: seen,
        onTrusted: (change) => recordChange(change, record.trusted),
        ...(onOutput ? { onOutput } : {}),
      });
      const untrack = host.track(running);
      const end = await running.ended.finally(untrack);
      return { ...toCommandEnd(end, { sandbox, rules }, record), ...(limitMs === null ? {} : { limitMs }) };
    },
    start: async ({ timeoutMs }) => {
      requireApproved(call);
      return startBackground(planned(), host, shorter(timeoutMs, undefined));
    },
  };
}

/** The last look before the command starts: a script may have been swapped since a person said yes to it. */
function requireApproved({ bound, tool, args }: PlannedCall): void {
  const path = bound === null ? undefined : changedSince(bound);
  if (path === undefined) return;
  throw new ToolFault({
    code: "policy.changed_since_approval",
    message: `${tool.title(args)} was not run: ${JSON.stringify(path)} changed after it was approved`,
    hint: "look at what changed, then send the call again to be asked anew",
    details: { path },
  });
}

function denialRecorder(rules: SandboxPolicy, call: PlannedCall, denials: Denial[]): (seen: ObservedDenial) => void {
  const known = new Set<string>();
  return (seen) => {
    const denial = explainDenial(seen, rules, { at: Date.now(), existing: nearestExisting });
    const key = `${denial.op} ${denial.path ?? denial.host ?? denial.reason}`;
    if (known.has(key) || denials.length >= DENIALS_LIMIT) return;
    known.add(key);
    denials.push(denial);
    call.request.onDenial?.(denial);
  };
}

function recordChange({ path, reason, syscall, pid, exe }: ObservedChange, trusted: TrustedChange[]): void {
  if (trusted.length >= TRUSTED_LIMIT || trusted.some((known) => known.path === path)) return;
  trusted.push({ at: Date.now(), path, reason, syscall, pid, ...(exe === undefined ? {} : { exe }) });
}

function nearestExisting(path: string): string {
  return path === "/" || existsSync(path) ? path : nearestExisting(dirname(path));
}

function toCommandEnd(end: LaunchEnd, { sandbox, rules }: Planned, record: ExecRecord): CommandEnd {
  if (end.kind === "refused") throw refusedByLauncher(end);
  record.enforced = end.enforced;
  const failed = end.code !== 0 && !end.timedOut && !end.cancelled;
  const guess = failed && record.denials.length === 0 ? guessHiddenRead(rules, sandbox, Date.now()) : null;
  if (guess) record.denials.push(guess);
  return {
    stdout: end.stdout.text,
    stderr: end.stderr.text,
    code: end.code,
    signal: end.signal,
    timedOut: end.timedOut,
    cancelled: end.cancelled,
    droppedBytes: end.stdout.droppedBytes + end.stderr.droppedBytes,
    ...(end.limit === undefined ? {} : { limit: end.limit }),
    denials: record.denials,
    trusted: record.trusted,
    enforced: end.enforced,
  };
}

function refusedByLauncher({ report }: Extract<LaunchEnd, { kind: "refused" }>): ToolFault {
  const what = report.property ?? report.op;
  return new ToolFault({
    code: "sandbox.unenforced",
    message: `The sandbox could not be built, so nothing was run: ${what}: ${report.why}${report.errno ? ` (${report.errno})` : ""}`,
    hint: "see `cordon doctor` for what this machine can enforce",
    details: report.ops,
  });
}

function shorter(a: number | null, b: number | undefined): number | null {
  if (b === undefined) return a;
  return a === null ? b : Math.min(a, b);
}

type Planned = { sandbox: LinuxPlan; rules: SandboxPolicy };

function startBackground({ sandbox }: Planned, host: LocalHost, timeoutMs: number | null): BackgroundTask {
  if (host.background === "refused") {
    throw new ToolFault({
      code: "exec.background_unavailable",
      message: "A background task would end with this process, which ends with this call",
      hint: "use `cordon serve`, or run it in the foreground with a longer timeout",
    });
  }
  const id = `task-${crypto.randomUUID().slice(0, 8)}`;
  const outputFile = join(privateFolder(join(host.stateFolder, "tasks"), host.uid), `${id}.log`);
  const fd = openSync(outputFile, fs.O_WRONLY | fs.O_CREAT | fs.O_EXCL | fs.O_APPEND | fs.O_NOFOLLOW, 0o600);
  const running = launch({
    plan: sandbox,
    launcher: host.launcher(),
    stdio: { appendTo: fd },
    timeoutMs,
    signal: host.closing,
  });
  const untrack = host.track(running);
  // A background command's end has no caller to tell; its output file is the record.
  running.ended
    .finally(() => {
      untrack();
      closeSync(fd);
    })
    .catch(() => {});
  return { id, outputFile };
}
