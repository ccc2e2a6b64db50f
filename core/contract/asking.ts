import type { Decision } from "./verdict.ts";

/** What a person is asked. `title` is the tool's one-line name for the call; `input` is what will run, whole. */
export type PermissionQuestion = { id: string; tool: string; title: string; input: unknown; decision: Decision };

/** The answers on offer. "session" holds for the very same call until the process ends. */
export const PERMISSION_CHOICES = ["once", "session", "deny"] as const;

/** A person's answer. */
export type PermissionAnswer = { choice: (typeof PERMISSION_CHOICES)[number]; reason?: string };

/**
 * Asks a person. `canAsk` is looked at for each call: a client may say at any time that it can't answer. `ask` resolves to
 * "deny" when `signal` aborts.
 */
export type Asker = {
  canAsk: () => boolean;
  ask: (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer>;
};
