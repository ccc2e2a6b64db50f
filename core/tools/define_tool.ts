import type { Static, TObject } from "@sinclair/typebox";
import type { AnyTool, Tool } from "../contract/tool.ts";

/** The fields a tool may leave out: it then is neither read-only nor safe beside other calls (C9), for every door. */
type Defaulted = "aliases" | "decidedBy" | "doors" | "readOnly" | "concurrencySafe";

/** A tool as its file writes it. */
export type ToolSpec<P extends TObject> = Omit<Tool<P>, Defaulted> & Partial<Pick<Tool<P>, Defaulted>>;

/** Makes a registry entry. `params` is called at first use and once. Never throws. */
export function defineTool<P extends TObject>(spec: ToolSpec<P>): AnyTool {
  let schema: P | undefined;
  // validate() checked the input against this very schema before any of these run; the parameter type can't be kept in one list.
  const typed = (args: unknown) => args as Static<P>;
  return {
    aliases: spec.aliases ?? [],
    name: spec.name,
    description: spec.description,
    requires: spec.requires,
    input: {
      kind: "schema",
      params: () => {
        schema ??= spec.params();
        return schema;
      },
    },
    ...(spec.paramAliases ? { paramAliases: spec.paramAliases } : {}),
    decidedBy: spec.decidedBy ?? "policy",
    doors: spec.doors ?? "all",
    readOnly: (args) => spec.readOnly?.(typed(args)) ?? false,
    concurrencySafe: (args) => spec.concurrencySafe?.(typed(args)) ?? false,
    title: (args) => spec.title(typed(args)),
    check: (args) => spec.check?.(typed(args)) ?? [],
    needs: (args, place) => spec.needs(typed(args), place),
    run: (args, grants) => spec.run(typed(args), grants),
  };
}
