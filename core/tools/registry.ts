import type { Door } from "../contract/request.ts";
import type { AnyTool } from "../contract/tool.ts";

/** The tools that exist, closed when the process starts (A1). Names are exact; aliases ignore case. */
export type Registry = {
  /** The tool by name or alias at this door, or undefined. */
  find: (name: string, door: Door) => AnyTool | undefined;
  /** Names of the tools at this door, for suggestions. */
  names: (door: Door) => string[];
  /** The tools that a model may see. */
  all: () => readonly AnyTool[];
};

/** Makes the registry. Throws when two tools claim one name: a name must have one meaning for the policy. */
export function createRegistry(tools: readonly AnyTool[]): Registry {
  const byName = new Map<string, AnyTool>();
  for (const tool of tools) {
    for (const name of [tool.name, ...tool.aliases]) {
      if (byName.has(name.toLowerCase())) throw new Error(`two tools are named ${name}`);
      byName.set(name.toLowerCase(), tool);
    }
  }
  const open = (tool: AnyTool, door: Door) => tool.doors === "all" || door === "run" || door === "tour";
  return {
    find: (name, door) => {
      const tool = byName.get(name.toLowerCase());
      return tool && open(tool, door) ? tool : undefined;
    },
    names: (door) => tools.filter((tool) => open(tool, door)).map(({ name }) => name),
    all: () => tools.filter(({ doors }) => doors === "all"),
  };
}
