import type { Door } from "../contract/request.ts";
import type { AnyTool } from "../contract/tool.ts";

/** The tools that exist, closed when the process starts (A1). Names and aliases ignore case. */
export type Registry = {
  /** The tool by name or alias at this door, or undefined. */
  find: (name: string, door: Door) => Promise<AnyTool | undefined>;
  /** Names of the tools at this door, for suggestions. */
  names: (door: Door) => Promise<string[]>;
  /** The tools that a model may see. */
  all: () => Promise<readonly AnyTool[]>;
};

/**
 * Makes the registry of a person's own tools and those that `load` brings at the first name which is not among them: six
 * schemas and their library cost a millisecond of start-up. Rejects when two tools claim one name, since a name must have one
 * meaning for the policy.
 */
export function createRegistry(own: readonly AnyTool[], load: () => Promise<readonly AnyTool[]>): Registry {
  let loaded: Promise<readonly AnyTool[]> | undefined;
  const everything = () => {
    loaded ??= load().then((others) => refuseTwins([...own, ...others]));
    return loaded;
  };
  const open = (tool: AnyTool, door: Door) => tool.doors === "all" || door === "run" || door === "tour";
  const named = (tools: readonly AnyTool[], name: string) =>
    tools.find((tool) => [tool.name, ...tool.aliases].some((one) => one.toLowerCase() === name.toLowerCase()));
  return {
    find: async (name, door) => {
      const tool = named(own, name) ?? named(await everything(), name);
      return tool && open(tool, door) ? tool : undefined;
    },
    names: async (door) => (await everything()).filter((tool) => open(tool, door)).map(({ name }) => name),
    all: async () => (await everything()).filter(({ doors }) => doors === "all"),
  };
}

function refuseTwins(tools: readonly AnyTool[]): readonly AnyTool[] {
  const taken = new Set<string>();
  for (const name of tools.flatMap((tool) => [tool.name, ...tool.aliases]).map((one) => one.toLowerCase())) {
    if (taken.has(name)) throw new Error(`two tools are named ${name}`);
    taken.add(name);
  }
  return tools;
}
