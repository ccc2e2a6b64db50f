import type { Property } from "../contract/plan.ts";
import type { SandboxPolicy, ShownLink } from "../contract/sandbox_policy.ts";
import type { Demands, SandboxRequest } from "../contract/sandbox_request.ts";
import type { Survey, Surveyed } from "../contract/survey.ts";
import { isWithin } from "../config/path_order.ts";
import { fromHome, gitTrust, HOST_TRUST, SECRETS } from "../config/protected_paths.ts";
import { DEVICES, HOME_READ, NEVER_WORKSPACE, SERVICES, SYSTEM_READ } from "../config/system_folders.ts";

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

/** Why the `.git` file of a worktree or submodule is closed. */
const GIT_POINTER = "names the repository that git obeys";

/** Every path that a policy for this request may name; the survey looks them up. Absolute, in the caller's words. */
export function pathsToSurvey(request: SandboxRequest, workspace: string, home: string): string[] {
  const homeReads = HOME_READ.map((path) => `${home}/${path}`);
  const trust = [...HOST_TRUST.map(({ path }) => path), ".git"].map((path) => `${workspace}/${path}`);
  const secrets = SECRETS.map(({ path }) => fromHome(path, home));
  const { allowRead, allowWrite, denyRead, denyWrite, onlyWrite } = request;
  return [
    workspace,
    home,
    ...SYSTEM_READ,
    ...DEVICES,
    ...SERVICES,
    ...homeReads,
    ...trust,
    ...secrets,
    ...allowRead,
    ...allowWrite,
    ...denyRead,
    ...denyWrite,
    ...(onlyWrite ?? []),
  ];
}

/** True where a folder can be the workspace: not the home folder, nothing above it, no part of the system, no secrets. */
export function canBeWorkspace(folder: string, home: string): boolean {
  if (isWithin(home, folder) || NEVER_WORKSPACE.includes(folder)) return false;
  return !SECRETS.some(({ path }) => isWithin(folder, fromHome(path, home)));
}

/** Builds the policy of one command. Pure: the survey holds all that was read from the file system. */
export function buildPolicy(request: SandboxRequest, survey: Survey): SandboxPolicy {
  const found = (path: string): Surveyed | undefined => {
    const entry = survey.paths.get(path);
    return entry && entry.kind !== "missing" ? entry : undefined;
  };
  const reals = (paths: readonly string[]) => paths.flatMap((path) => found(path)?.real ?? []);
  const links = SYSTEM_READ.flatMap((path) => shownLink(survey.paths.get(path)));
  const linked = new Set(links.map(({ path }) => path));
  // A flag that closes a folder closes every root in it; otherwise --deny-write=. would change nothing.
  const unread = reals(request.denyRead);
  const unwritten = [...reals(request.denyWrite), ...unread];
  const open = (closed: readonly string[]) => (path: string) => !closed.some((folder) => isWithin(path, folder));
  const asked = writable(request, survey, reals);
  const write = asked.filter(open(unwritten));
  const read = [
    ...reals(SYSTEM_READ.filter((path) => !linked.has(path))),
    ...reals(HOME_READ.map((path) => `${survey.home}/${path}`)),
    ...survey.pathFolders.filter((folder) => readablePathFolder(folder, survey.home)),
    ...workspaceReads(survey),
    ...reals(request.allowRead),
    ...asked.filter((path) => !write.includes(path)),
  ].filter(open(unread));
  return {
    home: survey.home,
    read: unique(read),
    write: unique(write),
    hidden: hiddenPaths(request, survey, found),
    protected: protectedPaths(request, survey, found),
    links,
    pinned: survey.links.filter((path) => write.some((root) => isWithin(path, root))),
    absent: absentPaths(survey, write, reals(request.allowWrite)),
    services: SERVICES.filter((path) => found(path)?.real === path),
    devices: unique(reals(DEVICES)),
    network: request.network === "open" ? "open" : "blocked",
    demands: demandsOf(request),
  };
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

function hiddenPaths(
  request: SandboxRequest,
  survey: Survey,
  found: (path: string) => Surveyed | undefined,
): SandboxPolicy["hidden"] {
  const allowed = new Set(request.allowRead.flatMap((path) => found(path)?.real ?? []));
  const listed = SECRETS.map((rule) => ({ path: fromHome(rule.path, survey.home), reason: rule.reason }));
  const asked = request.denyRead.map((path) => ({ path, reason: "--deny-read" }));
  const files = survey.secretFiles.map((path) => ({ path, folder: false, reason: "named like a file of secrets" }));
  const named = [...listed, ...asked].flatMap(({ path, reason }) => {
    const entry = found(path);
    return entry ? [{ path: entry.real, folder: entry.kind === "folder", reason }] : [];
  });
  // A person who names exactly a secret with --allow-read wants it seen; a folder above it does not open it.
  return [...named, ...files].filter(({ path, reason }) => reason === "--deny-read" || !allowed.has(path));
}

function protectedPaths(
  request: SandboxRequest,
  survey: Survey,
  found: (path: string) => Surveyed | undefined,
): SandboxPolicy["protected"] {
  const allowed = new Set(request.allowWrite.flatMap((path) => found(path)?.real ?? []));
  const listed = HOST_TRUST.map(({ path, reason }) => ({ path: `${survey.workspace}/${path}`, reason }));
  const dotGit = `${survey.workspace}/.git`;
  // In a worktree or a submodule it is a file, and git on the host obeys the folder that it names.
  const pointers = [...(found(dotGit)?.kind === "file" ? [dotGit] : []), ...survey.nested.pointers];
  const own = survey.git && gitFolders(survey).length > 0 ? [survey.git] : [];
  const wanted = [
    ...listed,
    ...[...own, ...survey.nested.places].flatMap(gitTrust),
    ...pointers.map((path) => ({ path, reason: GIT_POINTER })),
    ...request.denyWrite.map((path) => ({ path, reason: "--deny-write" })),
  ];
  const there = wanted.flatMap(({ path, reason }) => {
    const entry = found(path);
    return entry ? [{ path: entry.real, reason }] : [];
  });
  return there.filter((rule, at, all) => {
    if (rule.reason !== "--deny-write" && allowed.has(rule.path)) return false;
    return all.findIndex((other) => other.path === rule.path) === at;
  });
}

/** What git would obey if it were made: hooks, and in a repository of its own a file `commondir`, which git never makes there. */
function absentPaths(survey: Survey, write: readonly string[], named: readonly string[]): SandboxPolicy["absent"] {
  const places = [...(survey.git ? [survey.git] : []), ...survey.nested.places];
  const folders = [...new Set(places.map(({ commonDir }) => commonDir))];
  // Who names a repository's own folder with --allow-write wants it written; one that holds the repository is no such wish.
  const closed = folders.filter((folder) => !named.includes(folder));
  const all = closed.flatMap((folder) => [
    { path: `${folder}/commondir`, reason: "protected: git would take its settings from where this points" },
    { path: `${folder}/hooks`, reason: "protected: git runs these on the host" },
  ]);
  return all.filter(
    ({ path }) => survey.paths.get(path)?.kind === "missing" && write.some((root) => isWithin(path, root)),
  );
}

function demandsOf(request: SandboxRequest): Demands {
  const demands: Demands = { ...DEFAULT_DEMANDS };
  if (request.network === "open") {
    delete demands["net.blocked"];
    delete demands["net.loopback"];
  }
  for (const property of request.require) demands[property] = "must" satisfies Demands[Property];
  return demands;
}

function unique(paths: readonly string[]): string[] {
  return [...new Set(paths)];
}
