import type { NativeCalls } from "./native_calls.ts";

/** The folder of records in the state folder. */
export const PLANS = "plans";

/** One start of the launcher in place of this program. `row` is an audit row that is open already. */
export type Replacement = {
  launcher: string;
  record: number;
  program: string;
  flags: readonly string[];
  argv: readonly string[];
  row?: { id: string; sinceMs: number };
};

/** Comes back only when the launcher could not be started. */
export function execute(calls: NativeCalls, { launcher, record, program, flags, argv, row }: Replacement): void {
  calls.execute(launcher, [
    "cordon-launcher",
    "direct",
    `--record=${record}`,
    `--cordon=${program}`,
    `--flags=${flags.length}`,
    `--row=${row?.id ?? ""}`,
    `--since=${Math.round((row?.sinceMs ?? 0) * 1000)}`,
    ...flags,
    ...argv,
  ]);
}
