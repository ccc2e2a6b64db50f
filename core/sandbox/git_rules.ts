import type { GuardEffect, GuardRule } from "../contract/plan.ts";
import { literal } from "../config/globs.ts";

const HOOKS = "git runs these on the host";
const CONFIG = "keys such as core.fsmonitor and core.sshCommand make git run programs";
const ATTRIBUTES = "filters named in it run on checkout";
const POINTER = "names the repository that git obeys";

/** Where a repository may be: any folder below a root, or one that is a repository's own folder itself. */
export type GitRoot = { below: string } | { gitDir: string };

/**
 * What git on the host obeys, in repositories that are there and in those that the command makes. `refuse` is "deny", or "report"
 * where changes are only listed. Git itself goes on working: it writes a configuration of harmless keys, hooks that are samples,
 * and the `.git` file and `commondir` of a new worktree, which can only point at repositories guarded by the same rules.
 */
export function gitRules(root: GitRoot, refuse: "deny" | "report"): GuardRule[] {
  const at = "below" in root ? `${root.below === "/" ? "" : literal(root.below)}/**/.git` : literal(root.gitDir);
  const config: GuardEffect = refuse === "deny" ? "git_config" : "report";
  // A submodule's name may hold slashes, so its folder lies at any depth.
  const repositories = [at, `${at}/modules/**`];
  const inside = repositories.flatMap((place): GuardRule[] => [
    rule(`${place}/hooks/*.sample`, "allow", HOOKS),
    rule(`${place}/hooks/*`, refuse, HOOKS),
    { ...rule(`${place}/hooks`, refuse, HOOKS), when: "symlink" },
    rule(`${place}/config`, config, CONFIG),
    rule(`${place}/config.worktree`, refuse, CONFIG),
    rule(`${place}/info/attributes`, refuse, ATTRIBUTES),
    { ...rule(`${place}/info`, refuse, ATTRIBUTES), when: "symlink" },
    rule(`${place}/commondir`, refuse, POINTER),
  ]);
  return [
    ...inside,
    rule(`${at}/worktrees/*/config.worktree`, refuse, CONFIG),
    { ...rule(at, refuse, POINTER), when: "exists" },
    { ...rule(at, refuse, POINTER), when: "symlink" },
  ];
}

function rule(glob: string, effect: GuardEffect, reason: string): GuardRule {
  const base = { glob, access: "write", effect, rule: "fs.protected" } as const;
  if (effect === "allow" || effect === "report") return { ...base, reason };
  return { ...base, reason: `protected: ${reason}`, grant: "--allow-write=" };
}
