/** A table of verdicts leaves one out, as every table would after a verdict is added. */
import type { Verdict } from "../../../core/contract/verdict.ts";

export const exitCodes = { allow: 0, deny: 1 } satisfies Record<Verdict, number>;
