import { nearestNames } from "@cordon/core";
import type { Cli, Command } from "../command.ts";
import { emptyRulesDraft, foldersOf, readFlags, RULE_FLAGS, type RulesDraft, usageFault } from "../flags.ts";
import { printHelp } from "../ui/help.ts";

/** One word behind `cordon policy`. */
type Action = { summary: string; load: () => Promise<{ run: (args: readonly string[], cli: Cli) => Promise<number> }> };

const ACTIONS: Readonly<Record<string, Action>> = {
  check: {
    summary: "decide about a command, or about a stream of questions, and run nothing",
    load: async () => (await import("./policy/check.ts")).command,
  },
  explain: {
    summary: "say part by part what the policy makes of a call, and why",
    load: async () => (await import("./policy/explain.ts")).command,
  },
  lint: {
    summary: "find what in the settings files does not do what it says",
    load: async () => (await import("./policy/lint.ts")).command,
  },
  test: {
    summary: "run the examples of rules, and files of expected decisions",
    load: async () => (await import("./policy/test.ts")).command,
  },
  replay: {
    summary: "say which past calls another policy would decide otherwise",
    load: async () => (await import("./policy/replay.ts")).command,
  },
  suggest: {
    summary: "propose the smallest rules that would have saved questions",
    load: async () => (await import("./policy/suggest.ts")).command,
  },
  trust: {
    summary: "let the settings files of this workspace loosen the policy too",
    load: async () => (await import("./policy/trust.ts")).command,
  },
};

/** `cordon policy`: the policy engine as a tool of its own. */
export const command: Command<RulesDraft> = {
  name: "policy",
  summary: "Ask the policy without running anything",
  usage: "cordon policy ACTION [flags]",
  details: `Actions (cordon policy ACTION --help):
${Object.entries(ACTIONS)
  .map(([name, { summary }]) => `  ${name.padEnd(8)} ${summary}`)
  .join("\n")}`,
  flags: RULE_FLAGS,
  examples: [
    ["cordon policy check 'git push'", "would this run?"],
    ["cordon policy trust", "the settings files of this folder may loosen too"],
  ],
  run: async (args, cli) => {
    const draft = emptyRulesDraft();
    const words = readFlags(args, draft, { table: RULE_FLAGS, words: "command", folders: foldersOf(cli) });
    const [name, ...rest] = words;
    if (name === undefined && draft.help) return printHelp(command);
    if (name === undefined) throw usageFault("No action was named", `actions: ${Object.keys(ACTIONS).join(", ")}`);
    const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
    if (action === undefined) throw unknownAction(name);
    const { run } = await action.load();
    return run([...args.slice(0, args.length - words.length), ...rest], cli);
  },
};

function unknownAction(name: string) {
  const near = nearestNames(name, Object.keys(ACTIONS));
  return usageFault(
    `cordon policy has no action ${JSON.stringify(name)}`,
    near.length > 0 ? `did you mean ${near.join(" or ")}?` : `actions: ${Object.keys(ACTIONS).join(", ")}`,
  );
}
