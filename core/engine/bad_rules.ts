import { ToolFault } from "../contract/fault.ts";
import type { RuleFault } from "../contract/verdict.ts";

/** The fault for rules that can't be used; `details` is RuleFault[]. */
export function badRules(faults: readonly RuleFault[]): ToolFault {
  const lines = faults.map(({ rule, origin, why }) => `${JSON.stringify(rule)} (${origin}): ${why}`);
  return new ToolFault({
    code: "policy.bad_rule",
    message: `${faults.length === 1 ? "A rule" : `${faults.length} rules`} can't be used, so no call is allowed: ${lines.join("; ")}`,
    hint: "mend or remove it; see the README for the forms of a rule",
    details: faults,
  });
}
