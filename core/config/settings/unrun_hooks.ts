import type { Settings } from "../../contract/settings.ts";
import { invalid } from "./located.ts";

/**
 * For doors that call tools: nothing is called while a hook that could refuse it is not run. A person's own command needs no hook.
 * Throws ToolFault `config.invalid` with the place.
 */
export function requireNoHooks({ hooks }: Settings): void {
  const [first] = hooks;
  if (first === undefined) return;
  throw invalid(
    first.origin,
    `hooks of ${first.events.join(" and ")} could refuse calls, and hooks are not run in this version, so no tool is called`,
    'write what they refuse as deny rules and take the hooks out, or go without them: "disableAllHooks": true',
  );
}
