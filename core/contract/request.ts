import type { TSchema } from "@sinclair/typebox";
import type { Denial } from "./denial.ts";
import type { Mode } from "./verdict.ts";

/** The ways in. A door is recorded in the audit row and decides nothing but who can be asked. */
export type Door = "call" | "serve" | "run" | "tour" | "grep" | "glob";

/** Receives output while a command runs. `text` is valid UTF-8 with no character cut. Must not throw. */
export type OutputListener = (chunk: { stream: "stdout" | "stderr"; text: string }) => void;

/**
 * A call as it came in, nothing checked. `input` is any JSON. `timeoutMs` bounds execution, not the wait for an answer.
 * `signal` cancels the call at any stage.
 */
export type ToolRequest = {
  id: string;
  door: Door;
  tool: string;
  input: unknown;
  timeoutMs?: number;
  signal: AbortSignal;
  onOutput?: OutputListener;
  /** Receives each refusal as it happens. Must not throw. */
  onDenial?: (denial: Denial) => void;
};

/** The public description of a tool: what `cordon tools --json` and the `ready` line show. */
export type ToolDescription = {
  name: string;
  description: string;
  requires: "read-only" | "workspace-write" | "danger-full-access";
  inputSchema: TSchema;
};

/**
 * The permission mode with where it was set, for explanations. `preset` is the name that was given for it (`plan`,
 * `accept-edits`, `dont-ask`); `asks` "deny" means that what would ask is denied (`dont-ask`).
 */
export type ModeSetting = { mode: Mode; origin: string; preset?: string; asks?: "person" | "deny" };
