import { closeSync, fstatSync, openSync, renameSync, rmSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Looks } from "../../config/look.ts";
import { recordName, runKey } from "../../config/run_key.ts";
import type { ObservedDenial } from "../../contract/enforced.ts";
import type { LinuxPlan } from "../../contract/plan.ts";
import type { SandboxPolicy } from "../../contract/sandbox_policy.ts";
import type { Ruling } from "../../contract/ruling.ts";
import { explainDenial, guessHiddenRead } from "../../sandbox/explain_denial.ts";
import { privateFolder } from "../../store/paths.ts";
import { PLANS } from "./become_launcher.ts";
import type { MachineMarks } from "./probe.ts";
import { dropOldest, dropUnfinished, unfinishedName } from "../../store/unfinished.ts";

/** What a record is made of. `input` is the input of the call, `env` the variables of this process. */
export type RecordParts = {
  plan: LinuxPlan;
  rules: SandboxPolicy;
  looks: Looks;
  machine: MachineMarks;
  decision: Ruling;
  input: unknown;
  env: Readonly<Record<string, string>>;
  log: string;
};

/** Where it is kept: in which state folder, for which run of which executable, made for which launcher (a descriptor). */
export type RecordPlace = {
  stateFolder: string;
  uid: number;
  launcher: number;
  key: Parameters<typeof runKey>[0];
};

/** The most records that are kept; each is some 20 KB. */
const MOST_RECORDS = 64;

/** A record beyond this size is used once. */
const LARGEST_BYTES = 1 << 20;

/**
 * Writes the record of a run for the launcher, which reads it through the descriptor that `open` makes: under its name when
 * it can be used again, else under none. Mirror: `sandbox-native/linux/src/direct/record.rs`. Throws errors of the system.
 */
export function writeRecord(parts: RecordParts, place: RecordPlace, open: (path: string) => number): number {
  const folder = privateFolder(join(place.stateFolder, PLANS), place.uid);
  const key = runKey(place.key);
  const path = join(folder, recordName(key ?? ""));
  const text = `${key ?? ""}\n${markOf(place.launcher)}\n${JSON.stringify(recordOf(parts, [path, ...parts.machine.remembered]))}`;
  const bytes = Buffer.from(text);
  const temporary = unfinishedName(path);
  const fd = openSync(temporary, "wx", 0o600);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    const kept = open(temporary);
    if (key !== null && parts.looks.settled && bytes.length <= LARGEST_BYTES) {
      renameSync(temporary, path);
      dropUnfinished(folder);
      dropOldest(folder, { named: /./, most: MOST_RECORDS });
    } else unlinkSync(temporary);
    return kept;
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Nobody can change a file and keep all of these. The front compares it (`sandbox-native/front`). */
function markOf(launcher: number): string {
  const { ino, size, ctimeNs } = fstatSync(launcher, { bigint: true });
  return `${ino} ${size} ${ctimeNs}`;
}

/** The record as data. `forget` are files that are not to be believed when the plan can't be carried out. */
export function recordOf(parts: RecordParts, forget: readonly string[]): object {
  const { plan, decision, env, log } = parts;
  const { command } = plan;
  const passes = (name: string) => command.env[name] === env[name];
  const names = Object.keys(command.env);
  return {
    version: 1,
    witness: { ...witnessOf(parts.looks), ...parts.machine.marks },
    environment: {
      passed: names.filter(passes),
      set: Object.fromEntries(Object.entries(command.env).filter(([name]) => !passes(name))),
    },
    plan: { ...plan, command: { ...command, argv: [], env: {} } },
    tell: wordsOf(parts.rules, plan),
    audit: {
      log,
      input: inputAround(parts.input),
      verdict: decision.verdict,
      by: decision.by,
      ...(decision.rule ? { rule: decision.rule.rule } : {}),
      ...(decision.policy ? { policy: decision.policy } : {}),
    },
    forget,
  };
}

function witnessOf({ names, contents }: Looks): object {
  const of = (kind: string) => [...names].flatMap(([path, seen]) => (seen.kind === kind ? [path] : []));
  return {
    missing: of("missing"),
    folders: of("folder"),
    files: of("file"),
    others: of("other"),
    links: [...names].flatMap(([path, seen]) => (seen.kind === "link" ? [[path, seen.text]] : [])),
    errors: [...names].flatMap(([path, seen]) => (seen.kind === "error" ? [[path, seen.errno]] : [])),
    unchanged: [...contents],
  };
}

/** What people are told of a path, taken from the one place that words it. */
export function wordsOf(rules: SandboxPolicy, plan: LinuxPlan): object {
  const words = ({ path }: { path: string }) => {
    const seen: ObservedDenial = { op: "write", path, syscall: "", pid: 0, rule: "fs.write_confined" };
    const { reason, grant } = explainDenial(seen, rules, { at: 0, existing: (name) => name });
    return { path, reason, ...(grant === undefined ? {} : { grant }) };
  };
  const guess = guessHiddenRead(rules, plan, 0);
  return {
    protected: rules.protected.map(words),
    hidden: rules.hidden.map((one) => ({ ...words(one), ...(one.asked ? { asked: true } : {}) })),
    ...(guess ? { guess: { reason: guess.reason, ...(guess.grant ? { grant: guess.grant } : {}) } } : {}),
  };
}

/** The input as JSON text, before and after the words of the command: the launcher puts those in and takes the digest. */
function inputAround(input: unknown): [string, string] {
  const text = JSON.stringify(typeof input === "object" && input !== null ? { ...input, argv: [] } : input);
  const at = text.indexOf('"argv":[]') + '"argv":'.length;
  return [text.slice(0, at), text.slice(at + "[]".length)];
}
