import type { Asker } from "@cordon/core/contract";

/** Nobody can be asked: what would ask is denied at once. */
export const NOBODY: Asker = {
  canAsk: () => false,
  ask: async () => ({ choice: "deny", reason: "nobody can be asked" }),
};
