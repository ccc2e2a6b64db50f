import { closeSync, writeSync } from "node:fs";
import type {
  Enforced,
  LauncherControl,
  LauncherReport,
  ObservedChange,
  ObservedDenial,
} from "../../contract/enforced.ts";
import type { LinuxPlan } from "../../contract/plan.ts";
import type { OutputListener } from "../../contract/request.ts";
import type { CappedText } from "../../output/cap_text.ts";
import { collectOutput } from "./collect_output.ts";
import type { OpenLauncher } from "./launcher_file.ts";
import { createOutputCap, type OutputCap, outputDenial, passOn } from "./output_cap.ts";
import { reportLines } from "./report_lines.ts";

/** How long a command may take to end after SIGTERM before its whole tree is killed, in milliseconds. */
const GRACE_MS = 500;

/** How long the launcher may leave what we send unread, in milliseconds. It reads at once unless it is broken. */
const SEND_LIMIT_MS = 10_000;

/** One command to run. `stdio`: hand over ours, collect output, or append both streams to a descriptor. */
export type Launch = {
  plan: LinuxPlan;
  launcher: OpenLauncher;
  stdio: "inherit" | "collect" | { appendTo: number };
  /** The most bytes of both streams together; more end the command. */
  outputBytes?: number;
  timeoutMs: number | null;
  signal: AbortSignal;
  onOutput?: OutputListener;
  onDenial?: (denial: ObservedDenial) => void;
  onTrusted?: (change: ObservedChange) => void;
};

/** How it ended. `refused` means that the sandbox could not be built and nothing ran. */
export type LaunchEnd =
  | { kind: "refused"; report: Extract<LauncherReport, { t: "refused" }> }
  | {
      kind: "ended";
      code: number | null;
      signal: string | null;
      /** The bound that ended it, for example "memory". */
      limit?: string;
      timedOut: boolean;
      cancelled: boolean;
      enforced: Enforced;
      stdout: CappedText;
      stderr: CappedText;
    };

/** A command on its way. `forward` hands a signal on to it; `ended` rejects only when the launcher itself broke. */
export type RunningCommand = { forward: (signal: string) => void; ended: Promise<LaunchEnd> };

/**
 * Starts the launcher with one end of a socket as descriptor 3: the plan goes in, reports come out, and closing it, also by
 * our death, ends the command's whole tree.
 */
export function launch(options: Launch): RunningCommand {
  const { stdio, launcher } = options;
  const piped = stdio === "collect" || options.outputBytes !== undefined;
  const out = piped ? "pipe" : stdio === "inherit" ? "inherit" : stdio.appendTo;
  const child = Bun.spawn([launcher.program, "run", "--channel=3"], {
    argv0: "cordon-launcher",
    env: {},
    stdio: [stdio === "inherit" ? "inherit" : "ignore", out, out, "pipe"],
  });
  const channel = openChannel(child.stdio[3]);
  channel.send({ t: "plan", plan: options.plan });
  const stop = watchForStop(options, channel.send);
  const cap = createOutputCap(options.outputBytes, stop.onOutputLimit);
  const streams = piped ? [child.stdout, child.stderr] : [];
  const collected = streams.map((stream, at) => collect(stream, at === 0 ? "stdout" : "stderr", { ...options, cap }));
  const ended = gather(options, channel.reports(), Promise.all(collected), stop).finally(() => {
    stop.done();
    channel.close();
  });
  return { forward: (signal) => channel.send({ t: "signal", signal }), ended };
}

function openChannel(fd: unknown) {
  if (typeof fd !== "number") throw new Error("the channel to the launcher could not be made");
  let open = true;
  const send = (line: LauncherControl) => {
    // The number may be another file's by now.
    if (!open) return;
    try {
      const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
      for (let at = 0; at < bytes.length; ) at += writeSome(fd, bytes, at);
    } catch (error) {
      // The launcher has ended and closed its end; its last report tells how.
      if (!(error instanceof Error && "code" in error && (error.code === "EPIPE" || error.code === "ECONNRESET")))
        throw error;
    }
  };
  const close = () => {
    open = false;
    // Bun leaves the ends of extra pipes open for good; this also ends the tree where the reports broke off.
    closeSync(fd);
  };
  // Called after the plan is sent: bringing up Bun's streams takes as long as the launcher takes to build the sandbox.
  return { send, close, reports: () => reportLines(Bun.file(fd).stream()) };
}

/** Bun makes the socket non-blocking and it holds about 200 KB; a plan with a large environment must wait for the reader. */
function writeSome(fd: number, bytes: Uint8Array, at: number): number {
  for (let waitedMs = 0; ; waitedMs++) {
    try {
      return writeSync(fd, bytes, at);
    } catch (error) {
      const full = error instanceof Error && "code" in error && error.code === "EAGAIN";
      if (!full || waitedMs >= SEND_LIMIT_MS) throw error;
      Bun.sleepSync(1);
    }
  }
}

/** Ends the command on time-out and on cancel: SIGTERM first, the whole tree after the grace period. */
function watchForStop(options: Launch, send: (line: LauncherControl) => void) {
  const state: StopState = { timedOut: false, cancelled: false };
  const timers: Timer[] = [];
  const end = () => {
    send({ t: "signal", signal: "SIGTERM" });
    timers.push(setTimeout(() => send({ t: "kill" }), GRACE_MS));
  };
  const onAbort = () => {
    state.cancelled = true;
    end();
  };
  const onOutputLimit = () => {
    state.limit = "output";
    options.onDenial?.(outputDenial(options.outputBytes ?? 0));
    end();
  };
  if (options.timeoutMs !== null) {
    timers.push(
      setTimeout(() => {
        state.timedOut = true;
        end();
      }, options.timeoutMs),
    );
  }
  if (options.signal.aborted) onAbort();
  else options.signal.addEventListener("abort", onAbort, { once: true });
  const done = () => {
    options.signal.removeEventListener("abort", onAbort);
    for (const timer of timers) clearTimeout(timer);
  };
  return { state, done, onOutputLimit };
}

/** Why we ended it, if we did. */
type StopState = { timedOut: boolean; cancelled: boolean; limit?: string };

/** What is collected where the streams were handed over. */
const NO_TEXT: CappedText = { text: "", droppedBytes: 0 };

function collect(
  stream: ReadableStream<Uint8Array> | null | undefined | number,
  name: "stdout" | "stderr",
  { onOutput, stdio, cap }: Launch & { cap: OutputCap },
): Promise<CappedText> {
  if (!(stream instanceof ReadableStream)) return Promise.resolve(NO_TEXT);
  const chunks = cap.within(stream);
  if (stdio !== "collect") {
    const fd = stdio !== "inherit" ? stdio.appendTo : name === "stdout" ? 1 : 2;
    return passOn(chunks, fd).then(() => NO_TEXT);
  }
  return collectOutput(chunks, onOutput && ((text) => onOutput({ stream: name, text })));
}

async function gather(
  options: Launch,
  reports: AsyncIterable<LauncherReport>,
  output: Promise<CappedText[]>,
  stop: ReturnType<typeof watchForStop>,
): Promise<LaunchEnd> {
  let enforced: Enforced | undefined;
  let exit: Extract<LauncherReport, { t: "exit" }> | undefined;
  for await (const report of reports) {
    if (report.t === "refused") return { kind: "refused", report };
    if (report.t === "denial") options.onDenial?.(report);
    else if (report.t === "trusted") options.onTrusted?.(report);
    else if (report.t === "exit") exit = report;
    else
      enforced = { tier: report.tier, landlockAbi: report.landlockAbi, properties: report.properties, ops: report.ops };
  }
  const { timedOut, cancelled } = stop.state;
  // After the last report the tree is gone, so the pipes are closed or close now. Only who reads what we hand on may still be
  // slow, and where the command was ended nobody waits for that.
  const ending = timedOut || cancelled ? Promise.race([output, Bun.sleep(GRACE_MS)]) : output;
  const [stdout = NO_TEXT, stderr = NO_TEXT] = (await ending) ?? [];
  if (!enforced || !exit) throw new Error("the launcher ended without saying how the command ended");
  const { code, signal } = exit;
  const limit = stop.state.limit ?? exit.limit;
  const hit = limit === undefined ? {} : { limit };
  return { kind: "ended", code, signal, ...hit, timedOut, cancelled, enforced, stdout, stderr };
}
