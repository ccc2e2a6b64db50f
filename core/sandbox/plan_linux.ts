import type { LinuxFacts } from "../contract/facts.ts";
import type { Level, LinuxPlan, NamespaceKind, PlanCommand, PlanOp, Property, Tier } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import type { Demands } from "../contract/sandbox_request.ts";
import { isWithin } from "../config/path_order.ts";
import { guardOf } from "./guard_rules.ts";
import { landlockRules } from "./landlock_rules.ts";
import { brokerLack, type Lack, limitsAreVoid, type Offer, offerOf } from "./offer.ts";
import { mountsOf } from "./view_mounts.ts";

/** Why no plan on this machine gives a demanded property, with the next step for the person. */
export type Unenforceable = Lack & { property: Property };

/** Wanted by default, and demanded where the machine gives them: what is given is then either held or nothing runs. */
const RAISED: readonly Property[] = ["fs.read_hidden", "fs.protected", "limits"];

/**
 * Picks the cheapest set of mechanisms on this machine that gives every `must`. Pure: the same policy and facts give the
 * same plan. An answer with `missing` means that nothing may run.
 */
export function planLinux(
  policy: SandboxPolicy,
  facts: LinuxFacts,
  command: PlanCommand,
): LinuxPlan | { missing: Unenforceable[] } {
  const tier = chooseTier(facts);
  const offer = offerOf(tier, policy, facts);
  const missing = unmet(policy, facts, offer);
  if (missing.length > 0) return { missing };
  const asked = raised(policy.demands, offer);
  const ops = opsOf({ policy, facts, asked, offer, tier });
  return { version: 1, tier, command, asked, ops };
}

/** The tier this machine gives. Landlock without namespaces is the weaker one; without both there is only seccomp. */
export function chooseTier(facts: LinuxFacts): Tier {
  const spaces = facts.namespaces;
  // Both open every path with it, so that no link is followed.
  if (facts.openat2 === false) return "none";
  const view = spaces.procMount && facts.mountSetattr;
  if ((spaces.user || spaces.withoutUser) && view && facts.seccompFilter) return "namespaces";
  return facts.landlockAbi > 0 && facts.seccompFilter ? "landlock" : "none";
}

function raised(demands: Demands, offer: Offer): Demands {
  const asked = { ...demands };
  for (const property of RAISED) if (asked[property] && offer[property] === true) asked[property] = "must";
  return asked;
}

function unmet(policy: SandboxPolicy, facts: LinuxFacts, offer: Offer): Unenforceable[] {
  const demands = Object.entries(policy.demands) as [Property, Level][];
  return demands.flatMap(([property, level]) => {
    const given = offer[property] ?? { why: "it is not built yet", help: "drop the demand" };
    const demanded = level === "must" || (property === "limits" && limitsAreVoid(policy, facts));
    return demanded && given !== true ? [{ property, ...given }] : [];
  });
}

type Parts = { policy: SandboxPolicy; facts: LinuxFacts; asked: Demands; offer: Offer; tier: Tier };

/** The steps of a tier. The level of a step is the strictest demand that rests on it. */
function opsOf(parts: Parts): PlanOp[] {
  const { policy, facts, tier } = parts;
  const limits: PlanOp = { op: "limits", ...policy.limits, ...graded(parts, ["limits"], "even weakly") };
  const broker: PlanOp = { op: "broker", guard: guardOf(policy, tier), ...graded(parts, brokered(parts)) };
  const steps = tier === "namespaces" ? namespaceSteps(parts) : landlockSteps(parts);
  return [
    ...(Object.keys(policy.limits).length > 0 ? [limits] : []),
    ...steps.before,
    ...(brokerLack(facts) === undefined ? [broker] : []),
    steps.seccomp,
  ];
}

function graded(
  { asked, offer }: Parts,
  gives: readonly Property[],
  held: "in full" | "even weakly" = "in full",
): { level: Level; gives: Property[] } {
  const given = gives.filter((property) => asked[property] && (held === "even weakly" || offer[property] === true));
  return { level: given.some((property) => asked[property] === "must") ? "must" : "best", gives: given };
}

/**
 * What rests on the broker: truncate(2) too, for which Landlock has no right before ABI 3. In the view, mounts hide what is
 * there, so it hides only where every open is looked at.
 */
function brokered({ policy, facts, tier }: Parts): Property[] {
  const judgesWriting = tier === "landlock" && facts.landlockAbi < 3;
  const limited = (access: "read" | "write") => policy.limited.some((folder) => folder.access === access);
  return [
    ...(limited("write") || judgesWriting ? ["fs.write_confined" as const] : []),
    ...(limited("read") ? ["fs.read_confined" as const] : []),
    ...(tier === "landlock" || guardOf(policy, tier).reads ? ["fs.read_hidden" as const] : []),
    "fs.protected",
  ];
}

type Steps = { before: PlanOp[]; seccomp: Extract<PlanOp, { op: "seccomp" }> };

function namespaceSteps(parts: Parts): Steps {
  const { policy, facts } = parts;
  const user: NamespaceKind[] = facts.namespaces.user ? ["user"] : [];
  const net: NamespaceKind[] = policy.network === "blocked" ? ["net"] : [];
  const loopback: PlanOp[] = net.length > 0 ? [{ op: "loopback", ...graded(parts, ["net.loopback"]) }] : [];
  const before: PlanOp[] = [
    {
      op: "namespaces",
      kinds: [...user, "mount", "pid", "ipc", "uts", ...net],
      ...graded(parts, ["proc.isolated", "net.blocked", "fs.write_confined", "fs.read_confined"]),
    },
    {
      op: "view",
      mounts: mountsOf(policy, { guarded: brokerLack(facts) === undefined }),
      ...graded(parts, ["fs.write_confined", "fs.read_confined", "fs.read_hidden", "fs.protected"]),
    },
    ...loopback,
    { op: "private_tmp", at: showsHostTmp(policy) ? "host" : "view", ...graded(parts, ["fs.write_confined"]) },
    { op: "privileges", ...graded(parts, ["syscalls.filtered", "fs.write_confined"]) },
    // The backstop: what the view shows read-only, Landlock refuses to write once more.
    {
      op: "landlock",
      rules: landlockRules(policy, "namespaces"),
      scope: ["signal", "abstract_unix_socket"],
      level: "best",
      gives: [],
    },
  ];
  const network = policy.network === "blocked" ? "private" : "open";
  return { before, seccomp: { op: "seccomp", network, ...graded(parts, ["syscalls.filtered", "keyring.blocked"]) } };
}

/** Where the host's /tmp may be written, a new one over it would take away what was allowed, a workspace below it too. */
function showsHostTmp(policy: SandboxPolicy): boolean {
  return policy.write.some((root) => isWithin("/tmp", root));
}

function landlockSteps(parts: Parts): Steps {
  const { policy, asked, offer } = parts;
  // It is the host's own, so only for who wants one.
  const shared = policy.network === "blocked" && asked["net.loopback"] !== undefined && offer["net.loopback"] === true;
  const before: PlanOp[] = [
    ...(shared ? [{ op: "loopback" as const, ...graded(parts, ["net.loopback"]) }] : []),
    { op: "private_tmp", at: "host", ...graded(parts, ["fs.write_confined"]) },
    { op: "privileges", ...graded(parts, ["syscalls.filtered", "fs.write_confined"]) },
    {
      op: "landlock",
      rules: landlockRules(policy, "landlock"),
      scope: ["signal", "abstract_unix_socket"],
      ...graded(parts, ["fs.write_confined", "fs.read_confined", ...landlockAlone(parts)]),
    },
  ];
  const gives: Property[] = ["syscalls.filtered", "keyring.blocked", "net.blocked"];
  return { before, seccomp: { op: "seccomp", network: shared ? "loopback" : policy.network, ...graded(parts, gives) } };
}

/** What no rule opens is hidden and protected as well, as long as nothing of it lies in what a rule does open. */
function landlockAlone({ facts }: Parts): Property[] {
  return brokerLack(facts) === undefined ? [] : ["fs.read_hidden", "fs.protected"];
}
