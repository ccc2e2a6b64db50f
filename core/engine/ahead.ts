import { compileSearchModule, loadPolicyComponent, type SearchFor } from "./load.ts";

/**
 * Starts bringing up what a search cannot do without, the policy first, since it is asked first. The compiler works beside the main
 * thread, so whoever calls this at the very start waits for neither. What fails here fails again, and is told, where it is needed.
 */
export function bringUpSearch(what: SearchFor): void {
  loadPolicyComponent("files").catch(() => {});
  compileSearchModule(what).catch(() => {});
}

/** The same for a call of a tool that runs no command. */
export function bringUpPolicyForFiles(): void {
  loadPolicyComponent("files").catch(() => {});
}
