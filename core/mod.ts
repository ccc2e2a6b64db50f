/**
 * The core's only door: all wiring happens here. Everything is made at first use, so that a command pays for what it needs.
 */
import { type AuditLog, createAuditLog } from "./audit/audit.ts";
import { type ApprovalBook, createApprovalBook } from "./authorize/approvals/book.ts";
import type { Authority } from "./authorize/authorize.ts";
import { addRules, FIXED_RULES, ownFolderRules } from "./config/builtin_rules.ts";
import { beginLooks } from "./config/look.ts";
import { resolvePath } from "./config/resolve_path.ts";
import { keepSurveys } from "./config/kept_surveys.ts";
import { readRules } from "./config/read_rules.ts";
import { lookAtPaths, surveyPlaces } from "./config/survey.ts";
import { loadSettings } from "./config/settings/load.ts";
import { configFolderOf, modeOf, placeOf, stateFolderOf, type World } from "./config/world.ts";
import type { Asker } from "./contract/asking.ts";
import type { CallPlan } from "./contract/call.ts";
import type { Failure } from "./contract/outcome.ts";
import { failureOf, isRefused } from "./contract/refuse.ts";
import type { ModeSetting, ToolDescription, ToolRequest } from "./contract/request.ts";
import type { ToolResult } from "./contract/result.ts";
import type { ReadQuestion, ReadRules } from "./contract/search.ts";
import type { LookAtPlaces } from "./contract/survey.ts";
import type { AnyTool, Place } from "./contract/tool.ts";
import { DEFAULT_SANDBOX_REQUEST } from "./contract/sandbox_request.ts";
import type { Settings } from "./contract/settings.ts";
import { NO_RULES, type RuleLists } from "./contract/verdict.ts";
import type { Core } from "./dispatch/core.ts";
import { dispatch, prepare } from "./dispatch/dispatch.ts";
import { validate } from "./dispatch/validate.ts";
import { gitSettingsOf } from "./config/git_places.ts";
import type { Hosts } from "./exec/execute.ts";
import { mayReadBy } from "./engine/may_read.ts";
import { createRuleJudge, type RuleJudge } from "./engine/rule_judge.ts";
import { createLocalHost, type LocalHost } from "./exec/hosts/local_host.ts";
import { LAUNCHER_DIGEST, openLauncher } from "./exec/process/launcher_file.ts";
import { createMachine } from "./exec/process/probe.ts";
import { createReplacement } from "./exec/process/replacement.ts";
import { describeMachine, type MachineReport } from "./sandbox/describe_machine.ts";
import { type CallPlanner, configured, policyFor } from "./sandbox/plan_call.ts";
import { createPhases, NO_PHASES, type Phases } from "./store/phases.ts";
import { openAppendLog } from "./store/append_log.ts";
import { sha256 } from "./store/chain.ts";
import { grantsPathIn, newGrantId, openGrantsFile } from "./store/grants_file.ts";
import { privateFolder } from "./store/paths.ts";
import { run } from "./tools/exec/run.ts";
import { createRegistry } from "./tools/registry.ts";

export type { World } from "./config/world.ts";
export { parseMode } from "./config/world.ts";
export { requireNoHooks } from "./config/settings/unrun_hooks.ts";
export { bytesOf, countOf, percentOf } from "./config/units.ts";
export type { MachineReport } from "./sandbox/describe_machine.ts";
export { nearestNames } from "./config/nearest_names.ts";
export { VERSION } from "./version.ts";

/** What a front door chooses. `rules` are those of its flags. `background` says whether the process will last. */
export type CoreOptions = {
  world: World;
  mode?: ModeSetting;
  rules?: RuleLists;
  /** From openSettings(); without it no file holds. */
  settings?: Settings;
  asker: Asker;
  background: "allowed" | "refused";
  /** Memory for what a process that lasts remembers of trees that it has searched, in bytes; 0 is none, 256 MiB if left out. */
  indexBytes?: number;
  /** Whether closing rows of the log have the question that was decided, secrets masked. */
  auditCommands?: boolean;
  /** The words before the command of `cordon run`, where this process may become the command's supervisor. */
  replace?: { flags: readonly string[] };
};

/** Enough for three trees of the size of the Linux kernel's. */
const INDEX_BYTES = 256 << 20;

/** The core as front doors see it. Only `dispatch` runs anything. */
export type CordonCore = {
  /** Runs one call. Rejects only when the audit log can't be opened (ToolFault `audit.unwritable`, `state.insecure`). */
  dispatch: (request: ToolRequest) => Promise<ToolResult>;
  /** Goes through every stage but the last and gives the plan; runs nothing and writes no audit row. */
  explain: (request: ToolRequest) => Promise<{ ok: true; plan: CallPlan } | { ok: false; error: Failure }>;
  /** Compiles the rules now instead of at the first call. Rejects with ToolFault `policy.bad_rule`. */
  checkRules: () => Promise<void>;
  /** Brings up what the first call would wait for, in a process that waits for it. Never rejects. */
  warmUp: () => Promise<void>;
  /** The same for a call of a tool, as soon as it is known to come. Never rejects. */
  expect: (tool: string) => Promise<void>;
  tools: () => Promise<ToolDescription[]>;
  /** True when the call may run beside others (C4); false also for calls that will be refused. */
  concurrencySafe: (request: ToolRequest) => Promise<boolean>;
  machine: () => Promise<MachineReport>;
  /** Hands a signal ("SIGTERM") on to every command that runs. */
  signal: (name: string) => void;
  /** Ends what still runs in the background. */
  close: () => Promise<void>;
};

/** Wires the core. Reads the environment's settings and nothing else. Throws ToolFault `config.invalid`. */
export function createCore(options: CoreOptions): CordonCore {
  const { world, settings } = options;
  const place = placeOf(world);
  const stateFolder = stateFolderOf(world, place.home);
  const phases = world.env["CORDON_TRACE"] ? createPhases(world.env["CORDON_TRACE"]) : NO_PHASES;
  const host = createLocalHost({
    background: options.background,
    stateFolder,
    uid: world.uid,
    open: () => phases.time("open and verify the launcher", () => openLauncher(stateFolder, world.uid)),
  });
  const machine = createMachine(host.launcher, stateFolder);
  const resolve = (path: string) => resolvePath(path, place.cwd, place.home);
  const mode = modeOf(world, options.mode, settings);
  const configFolder = configFolderOf(world, place.home);
  const survey = surveyOf(options, place);
  const given = rulesOf(options);
  const planner: CallPlanner = {
    place,
    mode: mode.mode,
    stateFolder,
    configFolder,
    ...(settings ? { settings: settings.sandbox } : {}),
    readRules: once(() => (given.deny.length === 0 ? [] : readRules(given.deny, place).rules)),
    environment: world.env,
    platform: world.platform,
    resolve,
    machine: async () => phases.time("look up what the machine can do", machine.facts),
    lookAt: lookAtPaths,
    survey: (paths, rules) => phases.time("look at the files that a policy names", () => survey(paths, rules)),
  };
  const rules = once(() => addRules(ownFolderRules(stateFolder, configFolder), given));
  const policy = createRuleJudge(rules, FIXED_RULES);
  const authority: Authority = {
    judge: policy.judge,
    mode,
    place,
    roots: settings?.roots ?? [],
    resolve,
    asker: options.asker,
    approvals: approvalsOf(world, stateFolder, place),
    savable: settings?.managedOnly !== true,
    searchPath: world.env["PATH"] ?? "",
    policy: once(() => sha256(JSON.stringify([mode.mode, addRules(FIXED_RULES, rules())]))),
  };
  const core: Core = {
    audit: timedAudit(auditLog(stateFolder, options), phases),
    registry: createRegistry([run], async () => (await import("./tools/builtin.ts")).builtinTools()),
    authority,
    hooks: [],
    planner,
    hosts: { local: timedHost(host, phases), ...searchRules(policy, options, { place, given, rules }) },
  };
  const close = () => host.close().finally(phases.write);
  if (options.replace) {
    const parts = { world, stateFolder, machine: machine.marks, before: phases.write };
    makeReplaceable(core, { ...parts, flags: options.replace.flags });
  }
  return front(core, { ...host, close }, { world, forget: machine.forget, policy });
}

/** A process that starts commands in the background stays for more calls. */
function surveyOf({ world, background }: CoreOptions, place: Place): LookAtPlaces {
  const look: LookAtPlaces = (paths, rules = []) => surveyPlaces(paths, { ...place, rules }, world.env["PATH"] ?? "");
  return background === "allowed" ? keepSurveys(look) : look;
}

/** The rules of files and flags. Where the managed file alone may allow, flags can't. */
function rulesOf({ settings, rules = NO_RULES }: CoreOptions): RuleLists {
  if (!settings) return rules;
  return addRules(settings.rules, settings.managedOnly ? { ...rules, allow: [] } : rules);
}

/** Where settings files are looked for. `remember` starts a plan that can be used again: nothing may look at files before. */
export type SettingsOptions = { world: World; profile?: string | undefined; remember?: boolean };

/** Reads the settings files of this person, workspace and machine. Rejects with ToolFault `config.invalid`. */
export async function openSettings({ world, profile, remember }: SettingsOptions): Promise<Settings> {
  if (remember) beginLooks();
  const place = placeOf(world);
  return loadSettings({ world, place, profile, stateFolder: stateFolderOf(world, place.home) });
}

type ReplaceParts = Omit<Parameters<typeof createReplacement>[0], "log" | "row">;

function makeReplaceable(core: Core, parts: ReplaceParts): void {
  const log = logPath(parts.stateFolder, parts.world);
  core.hosts.local.replace = createReplacement({ ...parts, log, row: openedRow(core) });
}

function approvalsOf({ uid }: World, stateFolder: string, place: Place): ApprovalBook {
  const file = openGrantsFile(grantsPathIn(stateFolder), uid);
  return createApprovalBook({ file, place, now: Date.now, newId: newGrantId });
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function timedAudit(audit: AuditLog, phases: Phases): AuditLog {
  return {
    open: (request) => phases.time("open the audit row", () => audit.open(request)),
    close: (...row) => phases.time("close the audit row", () => audit.close(...row)),
  };
}

function timedHost(host: LocalHost, phases: Phases): LocalHost {
  const track: LocalHost["track"] = (command) => {
    void phases.timeAsync("launcher: sandbox, command, report", () => command.ended.catch(() => undefined));
    return host.track(command);
  };
  return { ...host, track };
}

type FrontParts = { world: World; forget: () => void; policy: RuleJudge };

function front(core: Core, host: LocalHost, parts: FrontParts): CordonCore {
  return {
    checkRules: parts.policy.check,
    ...warmingOf(core, parts.policy),
    dispatch: async (request) => {
      const result = await dispatch(request, core);
      // A sandbox that was planned and then could not be built means that the machine changed: look at it again next time.
      if (!result.ok && result.error.code === "sandbox.unenforced" && result.error.at === "execute") parts.forget();
      return result;
    },
    explain: (request) =>
      explain(request, core).catch((error: unknown) => ({ ok: false, error: failureOf(error, "plan") })),
    tools: async () => (await core.registry.all()).flatMap(describeTool),
    concurrencySafe: async (request) => {
      const valid = await validate(request, core.registry);
      return !isRefused(valid) && valid.tool.readOnly(valid.args) && valid.tool.concurrencySafe(valid.args);
    },
    machine: async () => {
      // What holds limits depends on where a process was started, which remembered facts do not tell.
      parts.forget();
      const launcher = parts.world.platform === "linux" ? host.launcher() : undefined;
      const facts = launcher ? await core.planner.machine() : undefined;
      const policy = policyFor(configured(DEFAULT_SANDBOX_REQUEST, core.planner), core.planner);
      return describeMachine({
        platform: parts.world.platform,
        policy,
        ...(facts ? { facts } : {}),
        ...(launcher ? { launcher: { path: launcher.path, sha256: LAUNCHER_DIGEST } } : {}),
      });
    },
    signal: host.signal,
    close: host.close,
  };
}

/** What fails ahead of a call fails again, and is told, in the call. */
function warmingOf({ registry, authority }: Core, policy: RuleJudge): Pick<CordonCore, "warmUp" | "expect"> {
  const ahead = () => import("./dispatch/warm_up.ts");
  const cold = { policy, registry, place: authority.place, mode: authority.mode.mode };
  return {
    warmUp: () =>
      ahead()
        .then(({ warmUp }) => warmUp(cold))
        .catch(() => undefined),
    expect: (tool) =>
      ahead()
        .then(({ expect }) => expect(tool, registry))
        .catch(() => undefined),
  };
}

function describeTool({ name, description, requires, input }: AnyTool): ToolDescription[] {
  return input.kind === "schema" ? [{ name, description, requires, inputSchema: input.params() }] : [];
}

async function explain(
  request: ToolRequest,
  core: Core,
): Promise<{ ok: true; plan: CallPlan } | { ok: false; error: Failure }> {
  const planned = await prepare(request, core);
  return isRefused(planned) ? { ok: false, error: planned.failure } : { ok: true, plan: planned.plan };
}

/**
 * Judges the files that a search meets. Without rules of the person there is nothing to judge: the built-in ones on reading
 * are the secrets that every search leaves out. A file that would ask is left out too, since a search can't stop to ask.
 */
function readFilterOf(policy: RuleJudge, { place, roots, given, rules }: ReadingParts): Hosts["readFilter"] {
  if (given.ask.length + given.deny.length === 0) return async () => undefined;
  const made = new Map<string, Promise<ReadRules>>();
  const make = async (tool: string): Promise<ReadRules> => {
    const { cwd, home, workspace } = place;
    const common = { tool, required: "read-only", mode: "workspace-write", params: {} } as const;
    const asked: ReadQuestion = { rules: rules(), about: { ...common, cwd, home, roots: [workspace, ...roots] } };
    return { mayRead: mayReadBy(await policy.now(), asked), asked };
  };
  // Once for each tool: neither the rules nor the folders change while the process lives, and approvals open nothing to a search.
  return (tool) => {
    const known = made.get(tool) ?? make(tool);
    made.set(tool, known);
    return known;
  };
}

/**
 * `given` are the person's rules, `rules` those and cordon's own: all that `policy` has beyond the built-in ones. `roots` are folders beside the
 * workspace, where a rule written for the workspace refuses as well.
 */
type ReadingParts = { place: Place; roots: readonly string[]; given: RuleLists; rules: () => RuleLists };

/** What a search is told beside its plan. */
function searchRules(policy: RuleJudge, options: CoreOptions, parts: Omit<ReadingParts, "roots">) {
  const git = gitSettingsOf(options.world.env, parts.place.home);
  const roots = options.settings?.roots ?? [];
  return { readFilter: readFilterOf(policy, { ...parts, roots }), git, ...searchIndexOf(options) };
}

/** A process that lasts remembers the trees that it has searched. */
function searchIndexOf({ background, indexBytes = INDEX_BYTES }: CoreOptions): Pick<Hosts, "searchIndex"> {
  if (background === "refused" || indexBytes === 0) return {};
  const make = async () => new (await import("./exec/search/index/search_index.ts")).SearchIndex(indexBytes);
  return { searchIndex: once(make) };
}

/** Notes the row that is opened last: `cordon run` opens one. */
function openedRow(core: Core): () => { id: string; sinceMs: number } | undefined {
  const { open } = core.audit;
  let last: ReturnType<typeof open> | undefined;
  core.audit.open = (request) => {
    last = open(request);
    return last;
  };
  return () => last && { id: last.id, sinceMs: performance.now() - last.startedMs };
}

function logPath(stateFolder: string, world: World): string {
  return `${privateFolder(stateFolder, world.uid)}/audit.jsonl`;
}

function auditLog(stateFolder: string, { world, settings, auditCommands }: CoreOptions) {
  const commands = (auditCommands ?? settings?.auditCommands) === true;
  let log: ReturnType<typeof openAppendLog> | undefined;
  const open = () => {
    log ??= openAppendLog(logPath(stateFolder, world));
    return log;
  };
  const clock = {
    now: Date.now,
    monotonic: () => performance.now(),
    newId: () => crypto.randomUUID(),
    pid: world.pid,
  };
  return createAuditLog(open, clock, () => commands);
}
