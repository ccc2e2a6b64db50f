import { ToolFault } from "@cordon/core/contract";
import type { Cli } from "./command.ts";
import { EXIT, exitCodeOf } from "./exit_codes.ts";

/** Runs a command; what it throws is shown to the person and becomes the exit code. Never throws. */
export async function runGuarded(cli: Cli, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const { showError } = await import("./ui/messages.ts");
    if (error instanceof ToolFault) {
      showError(cli, {
        code: error.code,
        message: error.message,
        ...(error.hint === undefined ? {} : { hint: error.hint }),
      });
      return exitCodeOf(error.code);
    }
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    showError(cli, { code: "tool.crashed", message, hint: "this is a defect in cordon; please report it" });
    return EXIT.toolError;
  }
}
