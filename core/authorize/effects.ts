import type { ResolvePath } from "../contract/resolved_path.ts";
import type { Need } from "../contract/tool.ts";
import type { Effect } from "../contract/verdict.ts";

/**
 * The effects that the policy judges. A path that goes through a symlink is judged twice, by the name that was given and
 * by the place it leads to, so that a link can't carry a call past a rule. Throws the resolver's ToolFaults.
 */
export function effectsOf(needs: readonly Need[], resolve: ResolvePath): Effect[] {
  return needs.flatMap((need): Effect[] => {
    if (need.kind === "exec") return [{ kind: "exec", command: need.command }];
    const kind = need.kind === "fs.write" ? "write" : "read";
    const { absolute, real } = resolve(need.path);
    return absolute === real
      ? [{ kind, path: real }]
      : [
          { kind, path: absolute },
          { kind, path: real, link: absolute },
        ];
  });
}
