import type { Static, TObject } from "@sinclair/typebox";
import type { Grants } from "./grants.ts";
import type { SandboxRequest } from "./sandbox_request.ts";
import type { RequiredPermission } from "./verdict.ts";

/** Where a call happens: the person's folders. All absolute and real. */
export type Place = { cwd: string; home: string; workspace: string };

/**
 * What a call needs: judged by policy as effects, turned into handles by the planner. Paths are as the caller wrote them.
 * `justification` says why `sandbox` asks for more than the policy gives, which always asks a person (E2).
 */
export type Need =
  | { kind: "fs.read" | "fs.write" | "fs.search"; path: string }
  | { kind: "exec"; command: string; argv: string[]; sandbox: SandboxRequest; justification?: string };

/** A meaning fault found after the schema check (C3). `path` is a JSON pointer into the input. */
export type MeaningFault = { path: string; message: string; hint?: string };

/**
 * A tool is one record; policy, planner, audit, help and every door read this record (A1). Defaults fail closed (C9): not
 * read-only, not safe to run beside other calls.
 */
export type Tool<P extends TObject = TObject> = {
  name: string;
  /** Other systems' names for it, resolved before rules (E11). Matching ignores case. */
  aliases: string[];
  /** For the model. */
  description: string;
  requires: RequiredPermission;
  /** The schema, made at first use so that commands which need no schema pay nothing (C11). */
  params: () => P;
  /** Other names for parameters, for example `file_path` for `path`. */
  paramAliases?: Record<string, string>;
  /** Who decides: the policy, or the person who typed the command (`cordon run`). */
  decidedBy: "policy" | "caller";
  /** Doors at which the tool exists; the model never sees a tool that is for `run` only (C12). */
  doors: "all" | "run";
  readOnly: (args: Static<P>) => boolean;
  concurrencySafe: (args: Static<P>) => boolean;
  title: (args: Partial<Static<P>>) => string;
  check?: (args: Static<P>) => MeaningFault[];
  needs: (args: Static<P>, place: Place) => Need[];
  /** Does the work with handles for just what `needs` named. Throws ToolFault for errors a caller can mend. */
  run: (args: Static<P>, grants: Grants) => Promise<unknown>;
};

/**
 * A tool with its parameter type forgotten; the registry's element type. Its input is checked against `params`, or by
 * `accepts` where only our own typed code can make one (`cordon run`): loading a schema checker costs a tenth of a start-up.
 */
export type AnyTool = Omit<Tool, "params" | "readOnly" | "concurrencySafe" | "title" | "check" | "needs" | "run"> & {
  input: { kind: "schema"; params: () => TObject } | { kind: "typed"; accepts: (input: unknown) => boolean };
  readOnly: (args: unknown) => boolean;
  concurrencySafe: (args: unknown) => boolean;
  title: (args: unknown) => string;
  check: (args: unknown) => MeaningFault[];
  needs: (args: unknown, place: Place) => Need[];
  run: (args: unknown, grants: Grants) => Promise<unknown>;
};
