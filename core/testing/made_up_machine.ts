/** Machines and surveys as values, for tests of the pure planner. Nothing but tests imports this. */
import type { LinuxFacts } from "../contract/facts.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import type { Survey, Surveyed } from "../contract/survey.ts";

/** A machine on which everything works, for an ordinary user, with `changes` on top. */
export function factsOf(changes: Partial<LinuxFacts> = {}): LinuxFacts {
  return {
    kernel: "6.1.0",
    landlockAbi: 4,
    namespaces: { user: true, withoutUser: false, procMount: true },
    mountSetattr: true,
    seccompFilter: true,
    userNotification: true,
    noNewPrivs: true,
    uid: 1000,
    gid: 1000,
    capSysAdmin: false,
    limits: { memory: "cgroup2", processes: "cgroup2", cpu: "cgroup2" },
    filtered: false,
    container: [],
    sysctls: {},
    ...changes,
  };
}

/** The same machine without namespaces: the weaker tier. */
export const WITHOUT_NAMESPACES: LinuxFacts = factsOf({
  namespaces: { user: false, userErrno: "EPERM", withoutUser: false, procMount: false },
});

/** What a survey of these existing paths would say; a name ending in a slash is a folder, `links` maps names to targets. */
export function surveyOf(
  existing: readonly string[],
  parts: Partial<Survey> = {},
  links: Record<string, string> = {},
): Survey {
  const plain = existing.map((name): Surveyed => {
    const path = name === "/" ? name : name.replace(/\/$/, "");
    return { given: path, absolute: path, real: path, exists: true, kind: name.endsWith("/") ? "folder" : "file" };
  });
  const linked = Object.entries(links).map(
    ([path, link]): Surveyed => ({ given: path, absolute: path, real: `/${link}`, exists: true, kind: "folder", link }),
  );
  const paths = new Map([...plain, ...linked].map((entry) => [entry.absolute, entry]));
  return {
    workspace: "/home/ada/app",
    home: "/home/ada",
    git: null,
    nested: { places: [], pointers: [] },
    gitSettings: [],
    links: [],
    paths,
    secretFiles: [],
    secretsUnseen: false,
    ruled: [],
    pathFolders: ["/usr/bin"],
    ...parts,
  };
}

/** A developer's machine: merged /usr, a repository as workspace, keys in the home folder. */
export const DEVELOPER: Survey = surveyOf(
  [
    "/usr/",
    "/etc/",
    "/sys/",
    "/home/ada/app/",
    "/home/ada/.cargo/bin/",
    "/home/ada/.ssh/",
    "/etc/shadow",
    "/home/ada/app/.git/hooks/",
    "/home/ada/app/.git/config",
    "/home/ada/app/.envrc",
    "/dev/null",
    "/dev/urandom",
  ],
  { git: { gitDir: "/home/ada/app/.git", commonDir: "/home/ada/app/.git" }, secretFiles: ["/home/ada/app/.env"] },
  { "/bin": "usr/bin", "/lib": "usr/lib" },
);

/** A policy that opens nothing and closes nothing. */
export const EMPTY_POLICY: SandboxPolicy = {
  home: "/home/ada",
  read: [],
  write: [],
  work: [],
  secretsByName: [],
  secretsUnseen: false,
  hidden: [],
  protected: [],
  denied: [],
  ruled: [],
  opened: [],
  limited: [],
  trustFiles: "block",
  gitDirs: [],
  unix: [],
  reportReads: false,
  limits: {},
  pinned: [],
  links: [],
  services: [],
  devices: [],
  network: "blocked",
  demands: {},
  required: [],
};
