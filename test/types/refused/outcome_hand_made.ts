/** A stage ends a call with an outcome of its own, which is neither execute's nor a refusal. */
import { capOutput } from "../../../core/output/cap_output.ts";

export const end = () => capOutput({ ok: true, output: "done", denials: [], coercions: [] });
