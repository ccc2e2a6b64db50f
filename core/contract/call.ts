import type { FilePlan } from "./file_plan.ts";
import type { LinuxPlan } from "./plan.ts";
import type { ToolRequest } from "./request.ts";
import type { SandboxPolicy } from "./sandbox_policy.ts";
import type { Bound } from "./approval.ts";
import type { Answerer, Ruling } from "./ruling.ts";
import type { Stamp } from "./stage.ts";
import type { AnyTool } from "./tool.ts";

/** One value that was accepted in another shape than the schema asks (C11), or a name that is an alias. */
export type Coercion = { path: string; from: string; to: string };

/**
 * `judged` are the real paths that the policy decided about; planning takes no other. `bound` are the programs and scripts that
 * a person's answer was about; execute looks at them once more.
 */
type Allowed = { decision: Ruling; answeredBy: Answerer; judged: readonly string[]; bound: Bound | null };

type Checked = { request: ToolRequest; tool: AnyTool; args: unknown; coercions: Coercion[] };

/** The tool exists and `args` fits its schema. Made by dispatch/validate.ts only. */
export type ValidatedCall = Checked & Stamp<"validated">;

/** A rule, the mode or a person allowed the call. Made by authorize/authorize.ts only. */
export type AuthorizedCall = Checked & Allowed & Stamp<"authorized">;

/** Every hook let it pass. Made by hooks/run_hooks.ts only. */
export type HookedCall = Checked & Allowed & Stamp<"hooked">;

/** What execute works on: paths are real and were judged, and a command has its whole sandbox plan. */
export type CallPlan = { files: FilePlan; sandbox?: LinuxPlan; rules?: SandboxPolicy };

/** Needs are turned into a plan that this machine can give. Made by sandbox/plan_call.ts only. */
export type PlannedCall = Checked & { decision: Ruling; plan: CallPlan; bound: Bound | null } & Stamp<"planned">;
