import type { Cli } from "./command.ts";

/** A command as the command line sees it: its draft type is its own business. */
export type LoadedCommand = {
  name: string;
  flags: Readonly<
    Record<string, { takes: "nothing" | "optional" | "value"; help: string; hint?: string; short?: string }>
  >;
  run: (args: readonly string[], cli: Cli) => Promise<number>;
};

type Entry = { summary: string; load: () => Promise<LoadedCommand> };

/** Every command. `summary` is for the short help, so that it loads no command; `load` is called for the one that is used. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
  run: { summary: "run a command behind a sandbox", load: async () => (await import("./commands/run.ts")).command },
  call: {
    summary: "make one tool call, JSON in, JSON out",
    load: async () => (await import("./commands/call.ts")).command,
  },
  serve: {
    summary: "take tool calls as JSON lines on stdin",
    load: async () => (await import("./commands/serve.ts")).command,
  },
  grep: { summary: "search file contents", load: async () => (await import("./commands/grep.ts")).command },
  glob: { summary: "find files by name", load: async () => (await import("./commands/glob.ts")).command },
  tools: { summary: "list the tools", load: async () => (await import("./commands/tools.ts")).command },
  policy: {
    summary: "ask the policy without running anything, trust a workspace",
    load: async () => (await import("./commands/policy.ts")).command,
  },
  doctor: {
    summary: "say what this machine can enforce, and why not more",
    load: async () => (await import("./commands/doctor.ts")).command,
  },
  approvals: {
    summary: "list, add and revoke what people have allowed for good",
    load: async () => (await import("./commands/approvals.ts")).command,
  },
  audit: {
    summary: "show or verify the log of calls",
    load: async () => (await import("./commands/audit.ts")).command,
  },
  tour: {
    summary: "show in ten seconds what is allowed and what is refused",
    load: async () => (await import("./commands/tour.ts")).command,
  },
};
