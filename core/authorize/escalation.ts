import type { Escalation } from "../contract/asking.ts";
import type { ResolvePath } from "../contract/resolved_path.ts";
import type { Need } from "../contract/tool.ts";
import type { Effect } from "../contract/verdict.ts";

/** What a call asks for beyond the sandbox that the policy gives: words for people, kinds for the log, effects for the rules. */
export type Lifts = Escalation & { kinds: readonly string[]; effects: readonly Effect[] };

type Lift = { kind: string; says: string; effects: Effect[] };

/**
 * Everything in a call's sandbox request that widens it, whatever field of the tool it came from; undefined where it only
 * tightens. Throws the resolver's ToolFaults.
 */
export function liftsOf(needs: readonly Need[], resolve: ResolvePath): Lifts | undefined {
  const lifts = needs.flatMap((need): Lift[] => {
    if (need.kind !== "exec") return [];
    const { allowRead, allowWrite, allowUnix, allowEnv, network, trustFiles } = need.sandbox;
    const paths = (kind: "read" | "write", given: readonly string[]) =>
      given.map((path) => pathLift(kind, path, resolve));
    return [
      ...paths("write", allowWrite),
      ...paths("read", allowRead),
      ...(network === "open" ? [{ kind: "network", says: "the host's whole network", effects: [] }] : []),
      ...allowUnix.map((path) => ({ kind: "socket", says: `connect to ${path}`, effects: [] })),
      ...(allowEnv === "all" || allowEnv.length > 0
        ? [{ kind: "environment", says: `variables: ${String(allowEnv)}`, effects: [] }]
        : []),
      ...(trustFiles === "block"
        ? []
        : [{ kind: "trusted files", says: "write files that tools outside the sandbox obey", effects: [] }]),
    ];
  });
  if (lifts.length === 0) return undefined;
  const justification = needs
    .flatMap((need) => (need.kind === "exec" && need.justification ? [need.justification] : []))
    .join("; ");
  return {
    lifts: lifts.map(({ says }) => says),
    kinds: [...new Set(lifts.map(({ kind }) => kind))],
    justification,
    effects: lifts.flatMap(({ effects }) => effects),
  };
}

/** Judged like a file that a tool names: a rule that denies writing there denies the escalation too. */
function pathLift(kind: "read" | "write", path: string, resolve: ResolvePath): Lift {
  const { absolute, real } = resolve(path);
  const effects =
    absolute === real
      ? [{ kind, path: real }]
      : [
          { kind, path: absolute },
          { kind, path: real },
        ];
  return { kind, says: `${kind} ${real} and all below it`, effects };
}
