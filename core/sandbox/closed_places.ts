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
import type { Named, NamedPlaces } from "./named_places.ts";

type Found = (path: string) => Surveyed | undefined;

/** Why the `.git` file of a worktree or submodule is closed. */
const GIT_POINTER = "names the repository that git obeys";

/** Secrets and --deny-read places that exist, for mounts and Landlock. */
export function hiddenPaths(request: SandboxRequest, survey: Survey, found: Found): SandboxPolicy["hidden"] {
  // A person who names exactly a secret with an allow flag wants it seen; a folder above it does not open it.
  const named = [...request.allowRead, ...request.allowWrite];
  const allowed = new Set(named.flatMap((path) => found(path)?.real ?? []));
  const listed = SECRETS.map((rule) => ({ path: fromHome(rule.path, survey.home), reason: rule.reason }));
  const asked = request.denyRead.map((path) => ({ path, reason: "--deny-read" }));
  const files = survey.secretFiles.map((path) => ({ path, folder: false, reason: "named like a file of secrets" }));
  const there = [...listed, ...asked].flatMap(({ path, reason }) => {
    const entry = found(path);
    return entry ? [{ path: entry.real, folder: entry.kind === "folder", reason }] : [];
  });
  return [...there, ...files].filter(({ path, reason }) => reason === "--deny-read" || !allowed.has(path));
}

/** Trusted files and --deny-write places that exist, for mounts. */
export function protectedPaths(
  request: SandboxRequest,
  survey: Survey,
  { found, git }: { found: Found; git: Survey["git"] },
): SandboxPolicy["protected"] {
  const allowed = new Set(request.allowWrite.flatMap((path) => found(path)?.real ?? []));
  const asked = request.denyWrite.map((path) => ({ path, reason: "--deny-write" }));
  // What a flag closes is closed whatever it is; so the flag's reason comes first.
  const wanted: PathRule[] = request.trustFiles === "block" ? [...asked, ...trustedPaths(survey, found, git)] : asked;
  const there = wanted.flatMap(({ path, reason, kind }) => {
    const entry = found(path);
    const rule = { reason, ...(kind ? { kind } : {}) };
    if (entry) return [{ path: entry.real, ...rule }];
    return kind === "setting" ? [{ path, ...rule, missing: true as const }] : [];
  });
  return there.filter((rule, at, all) => {
    if (rule.reason !== "--deny-write" && allowed.has(rule.path)) return false;
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

/** What the deny flags name, in the order of the flags; what may not be read may not be written either. */
export function deniedPlaces({ denyRead, denyWrite }: NamedPlaces): DeniedPlace[] {
  const closed =
    (access: DeniedPlace["access"]) =>
    ({ place, exists }: Named): DeniedPlace => ({ place, access, unmounted: !exists });
  return [...denyRead.map(closed("both")), ...denyWrite.map(closed("write"))];
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
export function isClosedByName(path: string, { workspace, home }: Survey): boolean {
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
