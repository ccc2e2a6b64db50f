import type { RuledNames, SandboxPolicy, ShownLink } from "../contract/sandbox_policy.ts";
import type { Demands, RulePattern, SandboxRequest } from "../contract/sandbox_request.ts";
import type { Survey, Surveyed } from "../contract/survey.ts";
import { fixedFolder, isGlob } from "../config/globs.ts";
import { isWithin } from "../config/path_order.ts";
import { isElsewhere } from "../config/read_rules.ts";
import { fromHome, SECRETS, trustPlaces } from "../config/protected_paths.ts";
import {
  CONTROL_GROUPS,
  CONTROL_GROUPS_REASON,
  DEVICES,
  HOME_READ,
  NEVER_WORKSPACE,
  SERVICES,
  SYSTEM_READ,
} from "../config/system_folders.ts";
import { ruledBy } from "./closed_by.ts";
import { deniedPlaces, hiddenPaths, openedPlaces, protectedPaths } from "./closed_places.ts";
import { namedPlaces } from "./named_places.ts";

/** What holds unless the caller says otherwise. `must` here is what both tiers can give. */
const DEFAULT_DEMANDS: Demands = {
  "fs.write_confined": "must",
  "fs.read_confined": "must",
  "fs.read_hidden": "best",
  "fs.protected": "best",
  "net.blocked": "must",
  "net.loopback": "best",
  "proc.isolated": "best",
  "env.scrubbed": "must",
  "keyring.blocked": "must",
  "syscalls.filtered": "must",
};

/** Every path that a policy for this request may name; the survey looks them up. Absolute, in the caller's words. */
export function pathsToSurvey(request: SandboxRequest, workspace: string, home: string): string[] {
  const homeReads = HOME_READ.map((path) => `${home}/${path}`);
  const trust = [...trustPlaces().map(({ path }) => path), ...GIT_FILES].map((path) => `${workspace}/${path}`);
  return [
    workspace,
    home,
    ...SYSTEM_READ,
    ...DEVICES,
    ...SERVICES,
    CONTROL_GROUPS,
    ...homeReads,
    ...trust,
    ...hideablePaths(request, home),
  ];
}

/** Those of them that may be hidden, and those that the request itself names. */
export function hideablePaths(request: SandboxRequest, home: string): string[] {
  const secrets = SECRETS.map(({ path }) => fromHome(path, home));
  const { allowRead, allowWrite, denyRead, denyWrite, onlyWrite, allowUnix } = request;
  const named = [...allowRead, ...allowWrite, ...denyRead, ...denyWrite, ...(onlyWrite ?? []), ...allowUnix];
  return [...secrets, ...named, ...named.filter(isGlob).map(fixedFolder)];
}

/** What git obeys in the workspace's own repository. */
const GIT_FILES = [".git", ".git/hooks", ".git/config", ".git/config.worktree", ".git/info/attributes"];

/** True where a folder can be the workspace: not the home folder, nothing above it, no part of the system, no secrets. */
export function canBeWorkspace(folder: string, home: string): boolean {
  if (isWithin(home, folder) || NEVER_WORKSPACE.includes(folder)) return false;
  return !SECRETS.some(({ path }) => isWithin(folder, fromHome(path, home)));
}

/** Looks up what stands at a path; undefined if that is nothing. */
export function whatIsThere(paths: Survey["paths"]): (path: string) => Surveyed | undefined {
  return (path) => {
    const entry = paths.get(path);
    return entry && entry.kind !== "missing" ? entry : undefined;
  };
}

/** Builds the policy of one command. Pure: the survey holds all that was read from the file system. */
export function buildPolicy(request: SandboxRequest, survey: Survey): SandboxPolicy {
  const found = whatIsThere(survey.paths);
  const reals = (paths: readonly string[]) => paths.flatMap((path) => found(path)?.real ?? []);
  const links = SYSTEM_READ.flatMap((path) => shownLink(survey.paths.get(path)));
  const linked = new Set(links.map(({ path }) => path));
  const named = namedPlaces(request, found);
  // A flag that closes a folder closes every root in it; otherwise --deny-write=. would change nothing.
  const unread = reals(request.denyRead);
  const unwritten = [...reals(request.denyWrite), ...unread];
  const open = (closed: readonly string[]) => (path: string) => !closed.some((folder) => isWithin(path, folder));
  const whole = writable(request, survey, reals);
  const system = [
    ...reals(SYSTEM_READ.filter((path) => !linked.has(path))),
    ...reals(HOME_READ.map((path) => `${survey.home}/${path}`)),
    ...survey.pathFolders.filter((folder) => readablePathFolder(folder, survey.home)),
  ];
  const worked = [...workspaceReads(survey), ...reals(request.allowRead)];
  // A pattern in a folder that is open as a whole opens nothing more, and must not close the rest of it.
  const limited = named.limited.filter(({ root, access }) => {
    const roots = access === "write" ? whole : [...whole, ...system, ...worked];
    return open(access === "write" ? unwritten : unread)(root) && !roots.some((other) => isWithin(root, other));
  });
  const folders = (access: "read" | "write") => limited.flatMap((one) => (one.access === access ? one.root : []));
  const asked = [...whole, ...folders("write")];
  const write = asked.filter(open(unwritten));
  const work = [...worked, ...folders("read")];
  const read = [...system, ...work, ...asked.filter((path) => !write.includes(path))].filter(open(unread));
  return {
    home: survey.home,
    read: unique(read),
    write: unique(write),
    work: unique(work.filter(open(unread))),
    secretsByName: unnamedSecrets([...work.filter(open(unread)), ...write], survey),
    secretsUnseen: survey.secretsUnseen,
    hidden: hiddenPaths(request, survey, found),
    ruled: ruledNames(request, survey, [...write, ...read]),
    protected: [
      ...protectedPaths(request, survey, { found, git: ownGit(survey) }),
      ...controlGroups(request, write, found),
    ],
    denied: deniedPlaces(named, survey),
    opened: openedPlaces(named, survey),
    limited,
    trustFiles: request.trustFiles,
    gitDirs: unique(gitFolders(survey)).filter((folder) => needsOwnRules(folder, write)),
    unix: reals(request.allowUnix),
    reportReads: request.reportReads,
    limits: launcherLimits(request),
    links,
    pinned: pinnedLinks(request, survey).filter((path) => write.some((root) => isWithin(path, root))),
    services: SERVICES.filter((path) => found(path)?.real === path),
    devices: unique(reals(DEVICES)),
    network: request.network === "open" ? "open" : "blocked",
    demands: demandsOf(request),
    required: request.require,
  };
}

/** Folders where files may be secrets by their names alone: all but the workspace, if it was looked through as a whole. */
function unnamedSecrets(folders: readonly string[], { workspace, secretsUnseen }: Survey): string[] {
  const outermost = folders.filter((folder) => !folders.some((other) => other !== folder && isWithin(folder, other)));
  return unique(outermost).filter((folder) => secretsUnseen || folder !== workspace);
}

/**
 * Rules with wildcards whose files were not all found: those of a workspace that is too large to be looked through, and those about
 * other folders that the command may read. A look at every open holds them.
 */
function ruledNames({ readRules = [] }: SandboxRequest, survey: Survey, open: readonly string[]): RuledNames[] {
  const { workspace, secretsUnseen } = survey;
  const readable = (pattern: RulePattern) => {
    const folder = "glob" in pattern ? fixedFolder(pattern.glob) : pattern.path;
    return open.some((root) => isWithin(root, folder) || isWithin(folder, root));
  };
  return readRules.flatMap((rule) => {
    const wild = rule.except.length > 0 || rule.patterns.some((pattern) => "glob" in pattern);
    const unseen = wild && (secretsUnseen || isElsewhere(rule, workspace));
    const patterns = unseen ? rule.patterns.filter(readable) : [];
    return patterns.length === 0 ? [] : [{ patterns, except: rule.except, reason: ruledBy(rule) }];
  });
}

/** Where nothing is protected but what flags name, only links on the way to those have to stay. */
function pinnedLinks({ trustFiles, denyWrite, denyRead }: SandboxRequest, survey: Survey): readonly string[] {
  if (trustFiles === "block") return survey.links;
  const named = [...denyWrite, ...denyRead];
  return survey.links.filter((link) => named.some((path) => isWithin(path, link)));
}

/** Closed in a wider folder that may be written; who names them gets them, but not beside limits that they hold. */
function controlGroups(
  request: SandboxRequest,
  write: readonly string[],
  found: (path: string) => Surveyed | undefined,
): SandboxPolicy["protected"] {
  const named = write.some((root) => isWithin(root, CONTROL_GROUPS));
  const isHeld = Object.keys(launcherLimits(request)).length > 0;
  const isOpen = write.some((root) => isWithin(CONTROL_GROUPS, root)) || named;
  if (!isOpen || (named && !isHeld) || found(CONTROL_GROUPS) === undefined) return [];
  return [{ path: CONTROL_GROUPS, reason: CONTROL_GROUPS_REASON }];
}

/** The host counts bytes of output itself. */
function launcherLimits({ limits }: SandboxRequest): SandboxPolicy["limits"] {
  const { outputBytes: _, ...own } = limits;
  return own;
}

function writable(request: SandboxRequest, survey: Survey, reals: (paths: readonly string[]) => string[]): string[] {
  if (request.onlyWrite) return reals(request.onlyWrite);
  const own = canBeWorkspace(survey.workspace, survey.home) ? [survey.workspace] : [];
  const git = own.length > 0 ? gitFolders(survey) : [];
  return [...own, ...git, ...reals(request.allowWrite)];
}

/** A repository around the workspace is written by `git commit`; one that spans the home folder is not the workspace's. */
function gitFolders(survey: Survey): string[] {
  if (!survey.git) return [];
  const { gitDir, commonDir } = survey.git;
  const top = commonDir.replace(/\/[^/]+$/, "") || "/";
  return canBeWorkspace(top, survey.home) ? [gitDir, commonDir] : [];
}

/** A repository's folder of the usual name in another writable folder is found by that name; a closed one can't be written. */
function needsOwnRules(folder: string, write: readonly string[]): boolean {
  const foundByName = folder.endsWith("/.git") && write.some((root) => root !== folder && isWithin(folder, root));
  return !foundByName && write.some((root) => isWithin(folder, root));
}

function ownGit(survey: Survey): Survey["git"] {
  return gitFolders(survey).length > 0 ? survey.git : null;
}

/** A repository is readable from its top even when the command starts in a folder of it; git needs that. */
function workspaceReads(survey: Survey): string[] {
  if (!canBeWorkspace(survey.workspace, survey.home)) return [];
  const top = survey.git?.gitDir.endsWith("/.git") ? survey.git.gitDir.slice(0, -"/.git".length) : null;
  return top && canBeWorkspace(top, survey.home) && isWithin(survey.workspace, top)
    ? [top, survey.workspace]
    : [survey.workspace];
}

/** A folder of PATH is readable, unless that would open the home folder or the root of the file system. */
function readablePathFolder(folder: string, home: string): boolean {
  return folder !== "/" && folder !== "/tmp" && !isWithin(home, folder);
}

function shownLink(entry: Surveyed | undefined): ShownLink[] {
  return entry?.link === undefined ? [] : [{ path: entry.absolute, target: entry.link }];
}

/** A flag that closes something by name is no wish: without it nothing runs. The planner judges what holds a limit. */
function demandsOf(request: SandboxRequest): Demands {
  const demands: Demands = { ...DEFAULT_DEMANDS };
  if (request.network === "open") {
    delete demands["net.blocked"];
    delete demands["net.loopback"];
  }
  // Where the loopback is the host's own, a listener of the command can be reached by others.
  if (request.network === "blocked") delete demands["net.loopback"];
  if (request.denyRead.length > 0 || request.readRules?.length) demands["fs.read_hidden"] = "must";
  if (request.denyWrite.length > 0) demands["fs.protected"] = "must";
  if (Object.keys(launcherLimits(request)).length > 0) demands.limits = "best";
  for (const property of request.require) demands[property] = "must";
  return demands;
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}
