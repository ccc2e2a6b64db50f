import type { World } from "@cordon/core";
import type { FlagTable } from "./flags.ts";

/** What main.ts hands to a command. `isTty` says whether a descriptor is a terminal; asked late because it costs a call. */
export type Cli = {
  world: World;
  isTty: (fd: 0 | 1 | 2) => boolean;
  /** Calls back on a signal to this process; returns the way to stop listening. */
  onSignal: (names: readonly string[], listener: (name: string) => void) => () => void;
};

/** One command of the command line: help, flags and work in one record. `run` resolves to the exit code. */
export type Command<Draft> = {
  name: string;
  summary: string;
  usage: string;
  details?: string;
  flags: FlagTable<Draft>;
  examples: readonly (readonly [line: string, what: string])[];
  run: (args: readonly string[], cli: Cli) => Promise<number>;
};
