import type { DeniedPlace, SandboxPolicy } from "../contract/sandbox_policy.ts";
import type { SandboxRequest } from "../contract/sandbox_request.ts";
import type { Survey, Surveyed } from "../contract/survey.ts";
import { isWithin } from "../config/path_order.ts";
import {
  fromHome,
  gitTrust,
  HOST_TRUST,
  isSecretName,
  type PathRule,
  SECRETS,
  trustPlaces,
} from "../config/protected_paths.ts";
import { closedBy, ruledBy } from "./closed_by.ts";
import type { Named, NamedPlaces } from "./named_places.ts";

type Found = (path: string) => Surveyed | undefined;

/** Why the `.git` file of a worktree or submodule is closed. */
const GIT_POINTER = "names the repository that git obeys";

/** Secrets and --deny-read places that exist, for mounts and Landlock. */
export function hiddenPaths(
  request: SandboxRequest,
  survey: Pick<Survey, "home" | "secretFiles" | "ruled">,
  found: Found,
): SandboxPolicy["hidden"] {
  // A person who names exactly a secret with an allow flag wants it seen; a folder above it does not open it.
  const named = [...request.allowRead, ...request.allowWrite];
  const allowed = new Set(named.flatMap((path) => found(path)?.real ?? []));
  const listed = SECRETS.map((rule) => ({ path: fromHome(rule.path, survey.home), reason: rule.reason }));
  const asked = request.denyRead.map((path) => ({
    path,
    reason: closedBy(request, "denyRead", path),
    asked: true as const,
  }));
  const files = survey.secretFiles.map((path) => ({ path, folder: false, reason: "named like a file of secrets" }));
  const ruled = survey.ruled.map(({ path, folder, rule }) => ({
    path,
    folder,
    reason: ruledBy(rule),
    asked: true as const,
  }));
  const there = (rules: readonly (PathRule & { asked?: true })[]) =>
    rules.flatMap(({ path, reason, ...rest }) => {
      const entry = found(path);
      return entry ? [{ path: entry.real, folder: entry.kind === "folder", reason, ...rest }] : [];
    });
  const built = [...there(listed), ...files].filter(({ path }) => !allowed.has(path));
  // Whoever closed a secret by name hears that, and no flag that would not open it.
  const closed = [...there(asked), ...ruled];
  const names = new Set(closed.map(({ path }) => path));
  return [...closed, ...built.filter(({ path }) => !names.has(path))];
}

/** Trusted files and --deny-write places that exist, for mounts. */
export function protectedPaths(
  request: SandboxRequest,
  survey: Survey,
  { found, git }: { found: Found; git: Survey["git"] },
): SandboxPolicy["protected"] {
  const allowed = new Set(request.allowWrite.flatMap((path) => found(path)?.real ?? []));
  const asked = request.denyWrite.map((path) => ({
    path,
    reason: closedBy(request, "denyWrite", path),
    asked: true as const,
  }));
  // What a flag closes is closed whatever it is; so the flag's reason comes first.
  const wanted: (PathRule & { asked?: true })[] =
    request.trustFiles === "block" ? [...asked, ...trustedPaths(survey, found, git)] : asked;
  const there = wanted.flatMap(({ path, ...rule }) => {
    const { kind } = rule;
    const entry = found(path);
    if (entry) return [{ path: entry.real, ...rule }];
    return kind === "setting" ? [{ path, ...rule, missing: true as const }] : [];
  });
  return there.filter((rule, at, all) => {
    if (!rule.asked && allowed.has(rule.path)) return false;
    return all.findIndex((other) => other.path === rule.path) === at;
  });
}

function trustedPaths(survey: Survey, found: Found, git: Survey["git"]): PathRule[] {
  const { workspace, nested, gitSettings } = survey;
  const dotGit = `${workspace}/.git`;
  // In a worktree or a submodule it is a file, and git on the host obeys the folder that it names.
  const pointers = [...(found(dotGit)?.kind === "file" ? [dotGit] : []), ...nested.pointers];
  const own = { gitDir: dotGit, commonDir: dotGit };
  return [
    ...trustPlaces().map(({ path, reason }) => ({ path: `${workspace}/${path}`, reason })),
    ...[own, ...(git ? [git] : []), ...nested.places].flatMap(gitTrust),
    ...pointers.map((path) => ({ path, reason: GIT_POINTER, kind: "pointer" as const })),
    ...gitSettings.map((named) => ({ ...named, kind: "setting" as const })),
  ];
}

/**
 * What flags, settings and rules close, in their order; what may not be read may not be written either. The broker knows them too: a
 * mount holds its own name, and lets a folder above it be renamed.
 */
export function deniedPlaces({ denyRead, denyWrite }: NamedPlaces, { ruled }: Survey): DeniedPlace[] {
  const closed =
    (access: DeniedPlace["access"]) =>
    ({ place, exists, by }: Named): DeniedPlace => ({ place, access, unmounted: !exists, reason: by });
  return [
    ...denyRead.map(closed("both")),
    ...ruled.map(({ path, rule }) => closed("both")({ place: { path }, exists: true, by: ruledBy(rule) })),
    ...denyWrite.map(closed("write")),
  ];
}

/** Names of trusted places, and what git obeys, as they may stand anywhere in a path. */
const TRUST_NAMES = [
  ...HOST_TRUST.flatMap(({ names }) => names),
  ...[".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info/attributes", ".git", ".cordon"],
];

/** What the allow flags name although it is a secret or obeyed by other tools: exactly that is opened, not a folder above it. */
export function openedPlaces({ allowRead, allowWrite }: NamedPlaces, survey: Survey): SandboxPolicy["opened"] {
  const isSecret = (path: string) => isSecretPlace(path, survey.home);
  const opened = (named: readonly Named[], flag: string, wanted: (path: string) => boolean) =>
    named.flatMap(({ place }) => (wanted("path" in place ? place.path : place.glob) ? [{ place, flag }] : []));
  return [
    ...opened(allowRead, "--allow-read", isSecret),
    ...opened(allowWrite, "--allow-write", (path) => isSecret(path) || isTrusted(path, survey.workspace)),
  ];
}

/** True for a place that a rule closes by its name, so that a flag which names it has something to open. */
export function isClosedByName(path: string, { workspace, home }: Pick<Survey, "workspace" | "home">): boolean {
  return isSecretPlace(path, home) || isTrusted(path, workspace);
}

function isSecretPlace(path: string, home: string): boolean {
  if (SECRETS.some((secret) => isWithin(path, fromHome(secret.path, home)))) return true;
  return path.split("/").some((name) => isSecretName(name));
}

/** The workspace itself may lie below a folder of such a name; what is above it was not asked for. */
function isTrusted(path: string, workspace: string): boolean {
  const inner = isWithin(path, workspace) ? path.slice(workspace.length) : path;
  return TRUST_NAMES.some((name) => `${inner}/`.includes(`/${name}/`));
}
