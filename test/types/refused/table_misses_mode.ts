/** A table of modes leaves one out, as every table would after a mode is added. */
import type { Mode } from "../../../core/contract/verdict.ts";

export const ranks = { "read-only": 0, "workspace-write": 1, "danger-full-access": 2, prompt: 3 } satisfies Record<Mode, number>;
