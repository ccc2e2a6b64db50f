import type { Coercion, ValidatedCall } from "../contract/call.ts";
import type { Refused } from "../contract/outcome.ts";
import { refuse } from "../contract/refuse.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { AnyTool } from "../contract/tool.ts";
import { nearestNames } from "../config/nearest_names.ts";
import type { Registry } from "../tools/registry.ts";
import type { CheckedInput, InputFault } from "./check_input.ts";

/** Checks the tool's name, the schema and the meaning, in that order. */
export async function validate(request: ToolRequest, registry: Registry): Promise<ValidatedCall | Refused> {
  const tool = await registry.find(request.tool, request.door);
  if (!tool) return unknownTool(request, registry);
  const checked = await check(tool, request.input);
  if (checked.faults.length > 0) return invalid(tool, checked.faults);
  const meaning = tool.check(checked.args);
  if (meaning.length > 0) {
    const [first] = meaning;
    return refuse({
      code: "input.meaning",
      message: `${tool.name}: ${first?.message ?? "the input makes no sense"}`,
      at: "validate",
      ...(first?.hint ? { hint: first.hint } : {}),
      details: meaning,
    });
  }
  return stamp(request, tool, checked.args, checked.coercions);
}

/** The schema checker is loaded at the first input that came from outside. */
async function check(tool: AnyTool, input: unknown): Promise<CheckedInput> {
  if (tool.input.kind === "schema") {
    const { acceptInput } = await import("./accept_input.ts");
    const accepted = isObject(input) ? acceptInput(tool, input) : undefined;
    return accepted ? { ...accepted, faults: [] } : (await import("./check_input.ts")).checkInput(tool, input);
  }
  const faults = tool.input.accepts(input)
    ? []
    : [
        {
          path: "",
          message: "is not what this tool takes",
          expected: `the input of ${tool.name}`,
          received: typeof input,
        },
      ];
  return { args: input, faults, coercions: [] };
}

function isObject(input: unknown): input is object {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

function stamp(request: ToolRequest, tool: AnyTool, args: unknown, coercions: Coercion[]): ValidatedCall {
  // TypeBox accepted `args` against the tool's schema above; this is the only maker of ValidatedCall.
  return { request, tool, args, coercions } as ValidatedCall;
}

async function unknownTool(request: ToolRequest, registry: Registry): Promise<Refused> {
  const near = nearestNames(request.tool, await registry.names(request.door));
  return refuse({
    code: "tool.unknown",
    message: `There is no tool named ${JSON.stringify(request.tool.slice(0, 200))}`,
    at: "validate",
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : "see `cordon tools` for the list",
  });
}

function invalid(tool: AnyTool, faults: InputFault[]): Refused {
  const lines = faults.map((f) => `${f.path || "/"}: ${f.message}${f.hint ? ` (${f.hint})` : ""}`);
  return refuse({
    code: "input.invalid",
    message: `The input of ${tool.name} has ${faults.length} fault${faults.length === 1 ? "" : "s"}: ${lines.join("; ")}`,
    at: "validate",
    hint: `see \`cordon tools --json\` for the schema of ${tool.name}`,
    details: faults,
  });
}
