import type { Need } from "../../contract/tool.ts";
import { sha256 } from "../../store/chain.ts";

/** What makes two calls the same one. `judged` are the real paths that were judged. */
export type CallParts = {
  tool: string;
  args: unknown;
  needs: readonly Need[];
  judged: readonly string[];
  cwd: string;
};

type ExecNeed = Extract<Need, { kind: "exec" }>;

/**
 * The digest of a call. For a command: what the shell gets and its sandbox, and not how long it may take or how it is described;
 * for other tools: every argument.
 */
export function keyOfCall({ tool, args, needs, judged, cwd }: CallParts): string {
  const commands = needs.filter((need): need is ExecNeed => need.kind === "exec");
  const words = commands.length === needs.length && needs.length > 0 ? commands : args;
  return sha256(stable(["cordon exact call 1", tool, words, judged, cwd]));
}

/** JSON with the keys of objects in order, so that equal values have equal texts. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
