/** The contract's door: types and constants that front ends and tests share. */
export type * from "./approval.ts";
export * from "./asking.ts";
export type * from "./call.ts";
export type * from "./denial.ts";
export type * from "./enforced.ts";
export * from "./error_codes.ts";
export type * from "./facts.ts";
export * from "./fault.ts";
export * from "./file_names.ts";
export type * from "./outcome.ts";
export type * from "./plan.ts";
export type * from "./request.ts";
export type * from "./result.ts";
export type * from "./ruling.ts";
export type * from "./settings.ts";
export * from "./sandbox_request.ts";
export * from "./verdict.ts";
