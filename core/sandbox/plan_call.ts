import type { CallPlan, HookedCall, PlannedCall } from "../contract/call.ts";
import type { LinuxFacts } from "../contract/facts.ts";
import { ToolFault } from "../contract/fault.ts";
import type { FilePlan, PlannedPath } from "../contract/file_plan.ts";
import type { Refused } from "../contract/outcome.ts";
import type { LinuxPlan } from "../contract/plan.ts";
import { failureOf, refuse } from "../contract/refuse.ts";
import type { ResolvePath } from "../contract/resolved_path.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { DEFAULT_SANDBOX_REQUEST, type ReadRule, type SandboxRequest } from "../contract/sandbox_request.ts";
import type { LookAtPlaces, Survey } from "../contract/survey.ts";
import type { Need, Place } from "../contract/tool.ts";
import type { Mode } from "../contract/verdict.ts";
import { sha256 } from "../store/chain.ts";
import type { SandboxEntry } from "../contract/settings.ts";
import { applySandbox } from "../config/settings/apply_sandbox.ts";
import { OWN_STATE } from "../config/protected_paths.ts";
import { fixedFolder, isGlob, requireGlob } from "../config/globs.ts";
import { hiddenPaths, isClosedByName } from "./closed_places.ts";
import { scrubEnvironment } from "./environment.ts";
import { isWithin } from "../config/path_order.ts";
import { planLinux, type Unenforceable } from "./plan_linux.ts";
import { buildPolicy, hideablePaths, pathsToSurvey, whatIsThere } from "./policy.ts";
import { privateCaches } from "./private_caches.ts";

/** What planning needs from the world. `machine` and `survey` read it once for each call; the rest are values. */
export type CallPlanner = {
  place: Place;
  mode: Mode;
  /** Where the audit log and the launcher are; hidden from every command. */
  stateFolder: string;
  environment: Readonly<Record<string, string>>;
  platform: string;
  resolve: ResolvePath;
  machine: () => Promise<LinuxFacts>;
  survey: LookAtPlaces;
  /** What stands at each of these paths, and nothing of what is around them. */
  lookAt: (paths: readonly string[]) => Survey["paths"];
  /** Where the person's settings are, hidden from every command as the state is. */
  configFolder?: string;
  /** What the settings files say of the sandbox. */
  settings?: readonly SandboxEntry[];
  /** Deny rules on reading, which hold for commands too. */
  readRules?: () => readonly ReadRule[];
};

type ExecNeed = Extract<Need, { kind: "exec" }>;

/** Turns a call's needs into real paths and, for a command, the whole sandbox plan of this machine. */
export async function planCall(call: HookedCall, planner: CallPlanner): Promise<PlannedCall | Refused> {
  try {
    const needs = call.tool.needs(call.args, planner.place);
    const command = needs.find((need): need is ExecNeed => need.kind === "exec");
    const files = planFiles(needs, call.judged, planner);
    if (!command) return stamp(call, { files });
    const { rules, plan } = await planCommand(call, command, planner);
    if ("missing" in plan) return unenforceable(call, plan.missing);
    // Where the caller decides, what is planned is the whole policy.
    const policy = call.tool.decidedBy === "caller" ? { policy: sha256(JSON.stringify(plan.ops)) } : {};
    return stamp({ ...call, decision: { ...call.decision, ...policy } }, { files, sandbox: plan, rules });
  } catch (error) {
    return refuse(failureOf(error, "plan"), call.decision);
  }
}

/** The sandbox policy of one request here, for planning, `doctor` and explaining denials. Throws the survey's ToolFaults. */
export function policyFor(asked: SandboxRequest, planner: CallPlanner): SandboxPolicy {
  const { workspace, home } = planner.place;
  const request = absolutePaths(asked, planner.resolve);
  const survey = planner.survey(pathsToSurvey(request, workspace, home), request.readRules);
  requireNamed(request, survey);
  const built = buildPolicy(request, survey);
  const policy = { ...built, hidden: hideOwnFolders(built.hidden, planner) };
  if (request.onlyWrite === undefined) return policy;
  const { onlyWrite: _, ...wide } = request;
  refuseWidening(policy, buildPolicy(wide, survey));
  return policy;
}

/** A request with what the settings files say of the sandbox under it. Throws ToolFault `sandbox.loosen_refused`. */
export function configured(asked: SandboxRequest, planner: CallPlanner): SandboxRequest {
  const { settings = [], place, mode } = planner;
  const rules = planner.readRules?.() ?? [];
  const request = applySandbox(settings, asked, { place, mode });
  return rules.length === 0 ? request : { ...request, readRules: rules };
}

/**
 * A name that is not there can be denied, and a secret or trusted file can be allowed before it is made; no other can be opened,
 * and a misspelt flag is better heard of.
 */
function requireNamed(request: SandboxRequest, survey: Pick<Survey, "paths" | "workspace" | "home">): void {
  const { allowRead, allowWrite, onlyWrite, allowUnix, denyRead, denyWrite } = request;
  const missing = (path: string) => survey.paths.get(path)?.kind === "missing";
  for (const path of [...allowRead, ...allowWrite, ...denyRead, ...denyWrite])
    if (missing(path) && isGlob(path)) requireGlob(path, "a path pattern");
  const openable = (path: string) => isWithin(path, survey.workspace) && isClosedByName(path, survey);
  const opened = [...allowRead, ...allowWrite].filter((path) => !openable(path));
  const needed = opened.map((path) => (missing(path) && isGlob(path) ? fixedFolder(path) : path));
  const absent = [...needed, ...(onlyWrite ?? []), ...allowUnix].find(missing);
  if (absent !== undefined) throw notThere(absent);
  const notSocket = allowUnix.find((path) => survey.paths.get(path)?.kind !== "other");
  if (notSocket !== undefined) {
    throw new ToolFault({
      code: "config.invalid",
      message: `--allow-unix: ${JSON.stringify(notSocket)} is no socket`,
      hint: "name the socket itself, for example --allow-unix=$SSH_AUTH_SOCK",
    });
  }
}

function notThere(path: string): ToolFault {
  return new ToolFault({
    code: "fs.not_found",
    message: `Cannot allow ${JSON.stringify(path)}: there is no such file or folder`,
    hint: "make it first, or name the folder above it",
  });
}

/** A command that could write the audit log or the launcher could rewrite what it did, or run outside the next time. */
function hideOwnFolders(hidden: Hidden, { stateFolder, configFolder, resolve }: CallPlanner): Hidden {
  const own = [stateFolder, ...(configFolder === undefined ? [] : [configFolder])].map(resolve);
  const more = own.flatMap(({ real, exists }) =>
    !exists || hidden.some(({ path }) => path === real) ? [] : [{ path: real, folder: true, reason: OWN_STATE }],
  );
  return [...hidden, ...more];
}

type Hidden = SandboxPolicy["hidden"];

/**
 * What a search does not see. It leaves out files that are named like secrets wherever it meets them, so nothing is looked through for
 * them before; only rules of a person may be about files that have to be found.
 */
function hiddenFromSearch(planner: CallPlanner): Hidden {
  const asked = configured(DEFAULT_SANDBOX_REQUEST, planner);
  if (asked.readRules?.length) return policyFor(asked, planner).hidden;
  const { workspace, home } = planner.place;
  const request = absolutePaths(asked, planner.resolve);
  const paths = planner.lookAt(hideablePaths(request, home));
  requireNamed(request, { paths, workspace, home });
  const hidden = hiddenPaths(request, { home, secretFiles: [], ruled: [] }, whatIsThere(paths));
  return hideOwnFolders(hidden, planner);
}

function absolutePaths(asked: SandboxRequest, resolve: ResolvePath): SandboxRequest {
  // What is not there has no links of its own to be kept; a pattern's folders are looked up by the survey.
  const one = (path: string) => {
    const { absolute, real, exists } = resolve(path);
    return exists || isGlob(absolute) ? absolute : real;
  };
  const all = (paths: readonly string[]) => paths.map(one);
  const { allowRead, allowWrite, denyRead, denyWrite, closedBy, onlyWrite, allowUnix } = asked;
  const lists = {
    allowRead: all(allowRead),
    allowWrite: all(allowWrite),
    denyRead: all(denyRead),
    denyWrite: all(denyWrite),
    allowUnix: all(allowUnix),
  };
  const named = ([path, by]: [string, string]) => [one(path), by] as const;
  const moved = (who: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(who).map(named));
  const by = closedBy && { denyRead: moved(closedBy.denyRead), denyWrite: moved(closedBy.denyWrite) };
  return {
    ...asked,
    ...lists,
    ...(by ? { closedBy: by } : {}),
    ...(onlyWrite ? { onlyWrite: all(onlyWrite) } : {}),
  };
}

/** A model's list of writable folders may narrow what the policy gives and never add to it (A4). */
function refuseWidening(narrow: SandboxPolicy, wide: SandboxPolicy): void {
  const outside = narrow.write.find((path) => !wide.write.some((root) => isWithin(path, root)));
  if (outside === undefined) return;
  throw new ToolFault({
    code: "sandbox.loosen_refused",
    message: `allowedMounts names ${JSON.stringify(outside)}, which the policy does not let this call write`,
    hint: `name folders inside ${wide.write.map((path) => JSON.stringify(path)).join(", ") || "nothing: no folder is writable here"}`,
  });
}

type CommandPlan = { rules: SandboxPolicy; plan: LinuxPlan | { missing: Unenforceable[] } };

async function planCommand(call: HookedCall, need: ExecNeed, planner: CallPlanner): Promise<CommandPlan> {
  if (planner.platform !== "linux") {
    throw new ToolFault({
      code: "sandbox.unsupported",
      message: `There is no sandbox for ${planner.platform} in this version, so no command is run`,
      hint: "run cordon on Linux, or in a Linux virtual machine",
    });
  }
  // A person's own command is widened by its flags alone; a mode that asks for less than the default holds for it too.
  const bounded = call.tool.decidedBy === "policy" || planner.mode === "read-only";
  const own = call.tool.decidedBy === "policy" ? judgedOnly(need.sandbox, call.judged, planner) : need.sandbox;
  const asked = configured(own, planner);
  const request = bounded ? requestForMode(asked, planner.mode) : asked;
  const rules = policyFor(request, planner);
  refuseClosedFolder(planner.place.cwd, rules);
  const env = { ...commandEnvironment(planner, request), ...(call.tool.decidedBy === "policy" ? GIT_CAUTION : {}) };
  const caches = privateCaches({ env, named: request.allowEnv, policy: rules });
  const plan = planLinux(rules, await planner.machine(), { argv: need.argv, cwd: planner.place.cwd, env, ...caches });
  return { rules, plan };
}

/** Folders that every view has, though nothing of the host may be in them. */
const ALWAYS_THERE = ["/", "/tmp", "/var/tmp"];

/** A command can't start in a folder that it does not get; the person hears it before the launcher meets it. */
function refuseClosedFolder(cwd: string, rules: SandboxPolicy): void {
  const open = [...rules.read, ...rules.write];
  if (ALWAYS_THERE.includes(cwd) || open.some((root) => isWithin(cwd, root))) return;
  throw new ToolFault({
    code: "sandbox.outside",
    message: `The command can't start in ${JSON.stringify(cwd)}: the home folder, what is above it, and the system are never a workspace`,
    hint: "start in a project folder, or open this one with --allow-read=. or --allow-write=.",
  });
}

/**
 * The seed's table of rights (E10): read-only writes nothing but what a person's flag names, danger-full-access reads and writes everything and has the
 * network. Secrets stay hidden and host-trust files protected in every mode.
 */
export function requestForMode(request: SandboxRequest, mode: Mode): SandboxRequest {
  if (mode === "read-only") return { ...request, onlyWrite: [...request.allowWrite] };
  if (mode !== "danger-full-access" || request.onlyWrite) return request;
  const network = request.network === "policy" ? "open" : request.network;
  return { ...request, allowRead: [...request.allowRead, "/"], allowWrite: [...request.allowWrite, "/"], network };
}

/**
 * The policy lets git's reading subcommands run unasked anywhere in the workspace, so git must obey no repository that came as
 * plain files of another one, and start no program to watch files.
 */
const GIT_CAUTION: Readonly<Record<string, string>> = {
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
  GIT_CONFIG_KEY_1: "core.fsmonitor",
  GIT_CONFIG_VALUE_1: "false",
};

/** TMPDIR is set by the launcher, which makes the folder. A cordon inside keeps its own state there: the home is closed. */
function commandEnvironment(planner: CallPlanner, request: SandboxRequest): Record<string, string> {
  return { ...scrubEnvironment(planner.environment, request.allowEnv), HOME: planner.place.home, CORDON_SANDBOX: "1" };
}

/** What an escalation opens is what a person was shown: the real paths, whatever a link on the way leads to by now. */
function judgedOnly(asked: SandboxRequest, judged: readonly string[], { resolve }: CallPlanner): SandboxRequest {
  const real = (path: string) => {
    const now = resolve(path).real;
    if (!judged.includes(now)) throw movedSince(path, now);
    return now;
  };
  return { ...asked, allowRead: asked.allowRead.map(real), allowWrite: asked.allowWrite.map(real) };
}

/** A link may have been swapped while a person was asked: only what was judged may be planned. */
function planFiles(needs: readonly Need[], judged: readonly string[], planner: CallPlanner): FilePlan {
  const paths = needs.flatMap((need): PlannedPath[] => {
    if (need.kind === "exec") return [];
    const { given, absolute, real, kind } = planner.resolve(need.path);
    const exists = kind !== "missing";
    if (!judged.includes(real)) throw movedSince(given, real);
    if (kind === "other" || (kind === "folder" && need.kind !== "fs.search")) throw notAFile(given, kind);
    return [{ given, absolute, real, access: need.kind === "fs.write" ? "write" : "read", exists }];
  });
  // Secrets are left out of searches: a search reads everything, and nobody was asked for each file.
  const searches = needs.some(({ kind }) => kind === "fs.search");
  return {
    paths,
    hidden: searches ? hiddenFromSearch(planner).map(({ path }) => path) : [],
  };
}

function movedSince(given: string, real: string): ToolFault {
  const message = `${JSON.stringify(given)} leads to ${JSON.stringify(real)} now, which is not what was decided about`;
  return new ToolFault({ code: "fs.moved", message, hint: "send the call again" });
}

function notAFile(given: string, kind: "other" | "folder"): ToolFault {
  const what = kind === "folder" ? "a folder" : "a device, pipe or socket";
  return new ToolFault({
    code: "fs.not_a_file",
    message: `${JSON.stringify(given)} is ${what}, and a regular file is wanted`,
    ...(kind === "folder" ? { hint: "list it with glob_search" } : {}),
  });
}

function unenforceable(call: HookedCall, missing: readonly Unenforceable[]): Refused {
  const why = missing.map(({ property, why }) => `${property}: ${why}`).join("; ");
  const help = [...new Set(missing.map((one) => one.help))].join("; ");
  return refuse(
    {
      code: "sandbox.unenforced",
      message: `This machine cannot give what the policy demands, so nothing was run: ${why}`,
      at: "plan",
      hint: help,
      details: missing,
    },
    call.decision,
  );
}

function stamp(call: HookedCall, plan: CallPlan): PlannedCall {
  // Every path was resolved and every `must` has a mechanism; this is the only maker of PlannedCall.
  return {
    request: call.request,
    tool: call.tool,
    args: call.args,
    coercions: call.coercions,
    decision: call.decision,
    plan,
    bound: call.bound,
  } as PlannedCall;
}
