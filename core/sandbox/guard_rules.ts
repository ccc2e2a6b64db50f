import type { Guard, GuardRule, Property, Tier } from "../contract/plan.ts";
import type { DeniedPlace, LimitedFolder, RuledNames, SandboxPolicy } from "../contract/sandbox_policy.ts";
import type { RulePattern } from "../contract/sandbox_request.ts";
import { literal } from "../config/globs.ts";
import { isWithin } from "../config/path_order.ts";
import { CONTROL_GROUPS } from "../config/system_folders.ts";
import { EXEMPT_FOLDERS, HOST_TRUST, SAMPLE_ENDINGS, SECRET_NAMES } from "../config/protected_paths.ts";
import { gitRules } from "./git_rules.ts";

/** What the broker decides by under this policy. Pure. The first rule that matches decides, so their order is the policy. */
export function guardOf(policy: SandboxPolicy, tier: Tier): Guard {
  return {
    rules: [
      ...policy.protected.flatMap(({ path, reason }) => (path === CONTROL_GROUPS ? [controlGroupRule(reason)] : [])),
      ...policy.denied.map(deniedRule),
      ...policy.ruled.flatMap(ruledRules),
      ...policy.opened.map(openedRule),
      ...namedRules(policy),
      ...hiddenRules(policy),
      ...ownRules(policy),
      ...repositoryRules(policy),
      ...exemptRules(policy),
      ...secretNameRules(policy),
      ...trustRules(policy),
      ...policy.limited.flatMap((folder) => limitedRules(folder, policy)),
    ],
    gitLayout: policy.trustFiles === "block",
    // Where mounts protect what is there, modes and times are refused by them; a pattern has no mount.
    metadata: tier === "landlock" || policy.limited.length > 0 || policy.denied.some(({ unmounted }) => unmounted),
    reads: readsMatter(policy, tier),
    unix: policy.unix,
  };
}

/** True where only looking at every open keeps a secret hidden, or the person wants to see the denied ones. */
export function readsMatter(policy: SandboxPolicy, tier: Tier): boolean {
  const inWritable = (path: string) => policy.write.some((root) => isWithin(path, root));
  return (
    policy.reportReads ||
    policy.denied.some(({ access, unmounted }) => access === "both" && unmounted) ||
    policy.ruled.length > 0 ||
    policy.limited.some(({ access }) => access === "read") ||
    (tier === "landlock" && policy.hidden.some(({ path }) => inWritable(path)))
  );
}

/** Before what a person named: the limits of the same command rest on it. */
function controlGroupRule(reason: string): GuardRule {
  return { path: CONTROL_GROUPS, access: "write", effect: "deny", rule: "limits", reason: `protected: ${reason}` };
}

function deniedRule({ place, access, reason }: DeniedPlace): GuardRule {
  const rule: Property = access === "both" ? "fs.read_hidden" : "fs.protected";
  return { ...place, access, effect: "deny", rule, reason };
}

/**
 * A rule is about reading, so a new file of such a name may be made, by nothing that holds another's content. What is carved out may be read;
 * it is not opened for writing, for that would step over the rules behind.
 */
function ruledRules({ patterns, except, reason }: RuledNames): GuardRule[] {
  const place = ({ inside: _, ...place }: RulePattern) => place;
  return [
    ...except.map((carved): GuardRule => ({ ...place(carved), access: "read", effect: "allow", ...HIDDEN, reason })),
    ...patterns.flatMap((pattern): GuardRule[] => {
      const deny = { ...place(pattern), effect: "deny", ...HIDDEN, reason: `hidden: ${reason}` } as const;
      return [
        { ...deny, access: "read" },
        { ...deny, access: "write", when: "exists" },
      ];
    }),
  ];
}

/** What a person named exactly, although it is a secret or obeyed by other tools, is left to the kernel. */
function openedRule({ place, flag }: SandboxPolicy["opened"][number]): GuardRule {
  return { ...place, access: "both", effect: "allow", rule: "fs.protected", reason: flag };
}

/** What rules by name do not know or would let go: pointers of worktrees, what git's settings name, links that lead to closed places. */
function namedRules(policy: SandboxPolicy): GuardRule[] {
  const named = policy.protected.filter(({ kind }) => kind === "pointer" || kind === "setting");
  const links = policy.pinned.map((path) => ({ path, reason: "a link that leads to a protected place" }));
  const closed = [...named, ...links].filter(({ path }) => policy.write.some((root) => isWithin(path, root)));
  return closed.map(({ path, reason }) => ({
    path,
    access: "write",
    effect: "deny",
    rule: "fs.protected",
    reason: `protected: ${reason}`,
    grant: "--allow-write=",
  }));
}

/** A folder of secrets that holds a writable one, a workspace below it for example, is closed by the kernel alone. */
function hiddenRules(policy: SandboxPolicy): GuardRule[] {
  const closed = policy.hidden.filter(
    ({ path, asked }) => !asked && !policy.write.some((root) => isWithin(root, path)),
  );
  const readable = policy.read.filter((root) => closed.some(({ path }) => root !== path && isWithin(root, path)));
  return [
    ...readable.map(
      (path): GuardRule => ({ path, access: "read", effect: "allow", ...HIDDEN, reason: "--allow-read" }),
    ),
    ...closed.map(
      ({ path, reason }): GuardRule => ({
        path,
        access: "both",
        effect: "deny",
        ...HIDDEN,
        reason: `hidden: ${reason}`,
        grant: "--allow-read=",
      }),
    ),
  ];
}

const HIDDEN = { rule: "fs.read_hidden" } as const;

function secretNameRules(policy: SandboxPolicy): GuardRule[] {
  const samples = `**/{.env,.env.*}.{${SAMPLE_ENDINGS.join(",")}}`;
  return policy.secretsByName.flatMap((root): GuardRule[] => {
    const base = { glob: below(root, `**/${alternatives(SECRET_NAMES)}`), effect: "deny", ...HIDDEN } as const;
    const named = { ...base, reason: "hidden: named like a file of secrets", grant: "--allow-read=" };
    return [
      { glob: below(root, "**/node_modules"), access: "read", effect: "allow", ...HIDDEN, reason: "dependencies" },
      { glob: below(root, samples), access: "both", effect: "allow", ...HIDDEN, reason: "a sample" },
      { ...named, access: "read" },
      // A new one holds no secret yet.
      { ...named, access: "write", when: "exists" },
    ];
  });
}

function trustRules(policy: SandboxPolicy): GuardRule[] {
  if (policy.trustFiles === "allow") return [];
  const refuse = policy.trustFiles === "block" ? "deny" : "report";
  const listed = HOST_TRUST.filter((entry) => refuse === "report" || entry.class !== "work");
  return outermost(policy.write).flatMap((root) =>
    listed.map(({ names, reason, class: kind }): GuardRule => {
      const rule = trustedName(root, names, reason, refuse);
      return kind === "made" ? { ...rule, when: "exists" } : rule;
    }),
  );
}

/** Before the folders that are exempt: nothing that makes dependencies needs a hook. */
function repositoryRules(policy: SandboxPolicy): GuardRule[] {
  if (policy.trustFiles === "allow") return [];
  const refuse = policy.trustFiles === "block" ? "deny" : "report";
  return [
    ...outermost(policy.write).flatMap((root) => gitRules({ below: root }, refuse)),
    ...policy.gitDirs.flatMap((gitDir) => gitRules({ gitDir }, refuse)),
  ];
}

/** cordon's own policy is closed whatever becomes of the others: it would loosen the next run. */
function ownRules(policy: SandboxPolicy): GuardRule[] {
  return outermost(policy.write).map((root) => trustedName(root, [".cordon"], "cordon's own policy", "deny"));
}

function exemptRules(policy: SandboxPolicy): GuardRule[] {
  return outermost(policy.write).map(
    (root): GuardRule => ({
      glob: below(root, `**/${alternatives(EXEMPT_FOLDERS)}`),
      access: "write",
      effect: "allow",
      rule: "fs.protected",
      reason: "made by package managers and compilers",
    }),
  );
}

function trustedName(root: string, names: readonly string[], reason: string, refuse: "deny" | "report"): GuardRule {
  const base = { glob: below(root, `**/${alternatives(names)}`), access: "write", rule: "fs.protected" } as const;
  if (refuse === "report") return { ...base, effect: "report", reason };
  return { ...base, effect: "deny", reason: `protected: ${reason}`, grant: "--allow-write=" };
}

/** A folder that is open only for what a pattern names; last, so that every closer rule has spoken. */
function limitedRules({ root, globs, access }: LimitedFolder, policy: SandboxPolicy): GuardRule[] {
  const write = access === "write";
  const roots = write ? policy.write : [...policy.write, ...policy.read];
  const others = roots.filter((path) => path !== root && isWithin(path, root));
  const base = { access, rule: write ? "fs.write_confined" : "fs.read_confined" } as const;
  return [
    ...others.map((path): GuardRule => ({ ...base, path, effect: "allow", reason: "open by itself" })),
    ...globs.map((glob): GuardRule => ({ ...base, glob, effect: "allow", reason: `--allow-${access}` })),
    {
      ...base,
      path: root,
      effect: "deny",
      reason: write ? "outside what the command may write" : "outside what the command may read",
      grant: `--allow-${access}=`,
    },
  ];
}

/** Roots that lie in no other. */
function outermost(roots: readonly string[]): string[] {
  const unique = [...new Set(roots)];
  return unique.filter((root) => !unique.some((other) => other !== root && isWithin(root, other)));
}

function below(root: string, pattern: string): string {
  return `${root === "/" ? "" : literal(root)}/${pattern}`;
}

function alternatives(names: readonly string[]): string {
  return names.length === 1 ? (names[0] ?? "") : `{${names.join(",")}}`;
}
