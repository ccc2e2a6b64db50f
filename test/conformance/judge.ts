import { readFileSync } from "node:fs";
import type { After, Case, ExpectedEvent } from "./case.ts";
import type { ToolEvent } from "./adapters/adapter.ts";
import { kindOf, processesAbout, treeOf } from "./host_state.ts";
import type { HostServices } from "./host_services.ts";

/** What a run of a case came to. `status` is 128+n where signal n ended the tool. */
export type Observed = {
  status: number;
  stdout: string;
  stderr: string;
  started: boolean;
  timedOut: boolean;
  events: ToolEvent[];
};

/** The host as the judge asks about it: `trees` were taken before the run, `runOnHost` runs a script as the case's user. */
export type Host = {
  trees: Map<string, string>;
  services: HostServices;
  runOnHost: (script: string) => { status: number; stdout: string };
};

/** Everything in which a run differs from what its case expects, as sentences. None: it passed. */
export function judge(one: Case, seen: Observed, host: Host): string[] {
  if (seen.timedOut) return ["it did not end in time"];
  if (!seen.started) return [`the command was not started: ${lastLine(seen.stderr)}`];
  return [
    ...statusFaults(one, seen),
    ...(one.stdout === undefined || one.stdout === seen.stdout
      ? []
      : [`stdout is ${quote(seen.stdout)}, not ${quote(one.stdout)}; stderr: ${quote(seen.stderr)}`]),
    ...textFaults("stdout", seen.stdout, one.stdout_has, one.stdout_lacks),
    ...textFaults("stderr", seen.stderr, one.stderr_has, one.stderr_lacks),
    ...(one.after ?? []).flatMap((after) => afterFaults(after, host)),
    ...(one.events ?? []).flatMap((event) => eventFaults(event, seen.events)),
  ];
}

function statusFaults({ status = 0 }: Case, seen: Observed): string[] {
  const right = status === "any" || (status === "failure" ? seen.status !== 0 : seen.status === status);
  return right ? [] : [`status ${seen.status}, not ${status}; stderr: ${quote(seen.stderr)}`];
}

function textFaults(name: string, text: string, has: string[] = [], lacks: string[] = []): string[] {
  return [
    ...has.filter((part) => !text.includes(part)).map((part) => `${name} lacks ${quote(part)}: ${quote(text)}`),
    ...lacks.filter((part) => text.includes(part)).map((part) => `${name} holds ${quote(part)}: ${quote(text)}`),
  ];
}

function afterFaults(after: After, host: Host): string[] {
  if ("same_tree" in after) return treeFaults(after.same_tree, host.trees.get(after.same_tree) ?? "");
  if ("no_process" in after) {
    const left = waitUntilGone(after.no_process);
    return left.length === 0 ? [] : [`${left.length} processes are left`];
  }
  if ("not_heard" in after) return host.services.heard(after.not_heard) ? ["the host heard a datagram"] : [];
  if ("host" in after) {
    const end = host.runOnHost(joined(after.host));
    return end.stdout === after.prints ? [] : [`on the host: ${quote(end.stdout)}, not ${quote(after.prints)}`];
  }
  const kind = kindOf(after.path);
  if (kind !== after.is) return [`${after.path} is ${kind}, not ${after.is}`];
  if (after.is !== "file" || after.text === undefined) return [];
  const text = readFileSync(after.path, "utf8");
  return text === after.text ? [] : [`${after.path} holds ${quote(text)}, not ${quote(after.text)}`];
}

function treeFaults(folder: string, before: string): string[] {
  const lines = new Set(before.split("\n"));
  const now = treeOf(folder).split("\n");
  const added = now.filter((line) => !lines.has(line));
  const gone = [...lines].filter((line) => !now.includes(line));
  return added.length + gone.length === 0 ? [] : [`changed on the host: +${added.join(" +")} -${gone.join(" -")}`];
}

/** What was ended may need a moment to go. */
function waitUntilGone(text: string): number[] {
  for (let look = 0; look < 60; look += 1) {
    const left = processesAbout(text);
    if (left.length === 0) return [];
    Bun.sleepSync(50);
  }
  return processesAbout(text);
}

function eventFaults(wanted: ExpectedEvent, events: ToolEvent[]): string[] {
  const about = events.filter(
    (event) =>
      event.op === wanted.op &&
      (wanted.path === undefined || event.path === wanted.path) &&
      (wanted.host === undefined || event.host?.includes(wanted.host) === true),
  );
  if (about.length === 0) return [`no event ${quote(JSON.stringify(wanted))} among ${quote(JSON.stringify(events))}`];
  const granted = wanted.grant === false || about.some(({ grant }) => grant !== undefined && grant !== "");
  return granted ? [] : [`the event names no grant: ${quote(JSON.stringify(about))}`];
}

/** A text of a case, which may be a list of lines. */
export function joined(text: string | string[]): string {
  return typeof text === "string" ? text : text.join("\n");
}

function lastLine(text: string): string {
  return quote(text.trimEnd().split("\n").at(-1) ?? "");
}

function quote(text: string): string {
  const cut = text.length > 400 ? `${text.slice(0, 200)} … ${text.slice(-200)}` : text;
  return JSON.stringify(cut);
}
