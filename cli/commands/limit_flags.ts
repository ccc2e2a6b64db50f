import type { SandboxRequest } from "@cordon/core/contract";
import { parseBytes, parseCount, parsePercent } from "../flag_values.ts";
import type { FlagSpec } from "../flags.ts";

/** What these flags set; part of the draft of `cordon run`. */
export type LimitsDraft = { limits: SandboxRequest["limits"] };

/** The bounds of one command. Each that is met is named at the end. */
export const LIMIT_FLAGS = {
  memory: limitFlag("memoryBytes", [
    "SIZE",
    "the most memory of all its processes together, for example 2G",
    parseBytes,
  ]),
  pids: limitFlag("processes", ["NUMBER", "the most processes and threads at a time, for example 512", parseCount]),
  cpu: limitFlag("cpuPercent", ["PERCENT", "the most processor time; 100% is one whole core", parsePercent]),
  "file-size": limitFlag("fileBytes", ["SIZE", "the largest file that it can write, for example 1G", parseBytes]),
  output: limitFlag("outputBytes", ["SIZE", "the most bytes on stdout and stderr together; more end it", parseBytes]),
} as const satisfies Record<string, FlagSpec<LimitsDraft>>;

type Described = [hint: string, help: string, parse: (flag: string, text: string) => number];

function limitFlag(field: keyof LimitsDraft["limits"], [hint, help, parse]: Described): FlagSpec<LimitsDraft> {
  const name = {
    memoryBytes: "memory",
    processes: "pids",
    cpuPercent: "cpu",
    fileBytes: "file-size",
    outputBytes: "output",
  };
  return {
    takes: "value",
    hint,
    help,
    apply: (draft, value) => {
      draft.limits[field] = parse(name[field], value ?? "");
    },
  };
}
