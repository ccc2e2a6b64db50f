import { createCore } from "@cordon/core";
import type { ToolDescription } from "@cordon/core/contract";
import type { Cli, Command } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { COMMON_FLAGS, type CommonDraft, emptyCommonDraft, readFlagsOnly, jsonFlag } from "../flags.ts";
import { NOBODY } from "../nobody.ts";
import { printHelp } from "../ui/help.ts";
import { writeAnswer } from "../ui/write_fully.ts";

type ToolsDraft = CommonDraft & { json: boolean };

/** `cordon tools`: the tools with schema and required permission. */
export const command: Command<ToolsDraft> = {
  name: "tools",
  summary: "List the tools with their parameters and the permission they need",
  usage: "cordon tools [--json]",
  flags: {
    json: jsonFlag("everything as one JSON array, with the schemas"),
    ...COMMON_FLAGS,
  },
  examples: [["cordon tools --json | jq '.[].name'", "the names alone"]],
  run: async (args, cli) => {
    const draft: ToolsDraft = { ...emptyCommonDraft(), json: false };
    readFlagsOnly(args, draft, { command, cli, instead: "write cordon tools --json for the schemas" });
    if (draft.help) return printHelp(command);
    return list(draft, cli);
  },
};

async function list(draft: ToolsDraft, cli: Cli): Promise<number> {
  const core = createCore({
    world: cli.world,
    asker: NOBODY,
    background: "refused",
    ...(draft.mode ? { mode: draft.mode } : {}),
  });
  const tools = await core.tools();
  writeAnswer(draft.json ? `${JSON.stringify(tools, null, 2)}\n` : tools.map(renderTool).join("\n"));
  await core.close();
  return EXIT.ok;
}

function renderTool(tool: ToolDescription): string {
  // A tool's schema is an object schema (contract/tool.ts); anything else shows no parameters.
  const properties: unknown = tool.inputSchema["properties"];
  const required: unknown = tool.inputSchema["required"];
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const shown = names.map((name) => (Array.isArray(required) && required.includes(name) ? name : `[${name}]`));
  return `${tool.name}  (${tool.requires})\n  ${tool.description.replaceAll("\n", "\n  ")}\n  ${shown.join(" ")}\n`;
}
