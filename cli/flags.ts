import { nearestNames, parseMode } from "@cordon/core";
import { type ModeSetting, type RuleLists, ToolFault } from "@cordon/core/contract";
import type { Cli } from "./command.ts";

/** Where relative paths and `~` start. */
export type Folders = { cwd: string; home: string | undefined };

/**
 * One flag: its help and its parser in one record. `takes` "optional" means `--flag` or `--flag=VALUE`; "value" also accepts
 * the next word. `apply` puts one use into the draft; `null` is the bare flag. Throws ToolFault `usage`.
 */
export type FlagSpec<Draft> = {
  takes: "nothing" | "optional" | "value";
  hint?: string;
  help: string;
  short?: string;
  /** Left out of --help: it is known so that it can be refused with a reason. */
  hidden?: true;
  apply: (draft: Draft, value: string | null, folders: Folders) => void;
};

/** The flags of one command by their long name without dashes. */
export type FlagTable<Draft> = Readonly<Record<string, FlagSpec<Draft>>>;

/** Makes the fault for a command line that can't be understood; exit 121. */
export function usageFault(message: string, hint?: string): ToolFault {
  return new ToolFault({ code: "usage", message, ...(hint === undefined ? {} : { hint }) });
}

/**
 * Reads flags into `draft` and returns the words. `words` "command": the first word or `--` ends the flags and all that
 * follows belongs to the command; "mixed": flags may stand anywhere before `--`. Nothing is ever skipped: an unknown flag
 * throws ToolFault `usage`.
 */
export function readFlags<Draft>(
  args: readonly string[],
  draft: Draft,
  { table, words, folders }: { table: FlagTable<Draft>; words: "command" | "mixed"; folders: Folders },
): string[] {
  const found: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (arg === "--") return [...found, ...args.slice(i + 1)];
    if (!arg.startsWith("-") || arg === "-") {
      if (words === "mixed") found.push(arg);
      else return refuseStrayValue(args, i, table);
      continue;
    }
    const { name, given, spec } = findFlag(arg, table);
    const value = given ?? (spec.takes === "value" ? nextValue(args[++i]) : null);
    if (value === undefined) throw usageFault(`--${name} needs a value`, `write --${name}=${spec.hint ?? "VALUE"}`);
    if (given !== null && spec.takes === "nothing")
      throw usageFault(`--${name} takes no value, found ${JSON.stringify(given)}`);
    spec.apply(draft, value, folders);
  }
  return found;
}

/** Reads the flags of a command that takes no words. Throws ToolFault `usage` for a word; `instead` says what to write. */
export function readFlagsOnly<Draft extends CommonDraft>(
  args: readonly string[],
  draft: Draft,
  { command, cli, instead }: { command: { name: string; flags: FlagTable<Draft> }; cli: Cli; instead?: string },
): void {
  const [word] = readFlags(args, draft, { table: command.flags, words: "mixed", folders: foldersOf(cli) });
  if (word !== undefined && !draft.help)
    throw usageFault(`cordon ${command.name} takes no word, found ${JSON.stringify(word)}`, instead);
}

/** Where the paths of this command line start. */
export function foldersOf({ world }: Cli): Folders {
  return { cwd: world.cwd, home: world.env["HOME"] };
}

/** `--deny-read -- cat x` must not hide a file named `--`; a value that starts with a dash is written behind `=`. */
function nextValue(word: string | undefined): string | undefined {
  return word?.startsWith("-") ? undefined : word;
}

/** `--allow-read /etc -- cat x` would run `/etc`: a word behind a bare flag that can have a value is refused. */
function refuseStrayValue<Draft>(args: readonly string[], at: number, table: FlagTable<Draft>): string[] {
  const before = args[at - 1];
  const spec = before?.startsWith("--") && !before.includes("=") ? table[before.slice(2)] : undefined;
  if (spec?.takes === "optional") {
    throw usageFault(
      `It is not clear whether ${JSON.stringify(args[at])} is the value of ${before} or the command`,
      `write ${before}=${args[at]} for a value, or -- before the command`,
    );
  }
  return args.slice(at);
}

function findFlag<Draft>(
  arg: string,
  table: FlagTable<Draft>,
): { name: string; given: string | null; spec: FlagSpec<Draft> } {
  const equals = arg.indexOf("=");
  const head = equals < 0 ? arg : arg.slice(0, equals);
  const given = equals < 0 ? null : arg.slice(equals + 1);
  const name = head.startsWith("--") ? head.slice(2) : shortName(head.slice(1), table);
  const spec = Object.hasOwn(table, name) ? table[name] : undefined;
  if (spec) return { name, given, spec };
  const shown = Object.entries(table).flatMap(([key, flag]) => (flag.hidden ? [] : [`--${key}`]));
  const near = nearestNames(head, shown);
  throw usageFault(
    `Unknown flag ${JSON.stringify(head)}`,
    near.length > 0 ? `did you mean ${near.join(" or ")}?` : `flags: ${shown.join(" ")}`,
  );
}

function shortName<Draft>(letter: string, table: FlagTable<Draft>): string {
  return Object.entries(table).find(([, spec]) => spec.short === letter)?.[0] ?? `-${letter}`;
}

/** What the flags that every command knows set. */
export type CommonDraft = { help: boolean; mode: ModeSetting | undefined };

/** The flags of every command. */
export const COMMON_FLAGS = {
  help: {
    takes: "nothing",
    short: "h",
    help: "this text",
    apply: (draft) => {
      draft.help = true;
    },
  },
  mode: {
    takes: "value",
    hint: "MODE",
    help: "permission mode: read-only (plan), workspace-write (accept-edits), danger-full-access, prompt, allow or dont-ask (also $CORDON_PERMISSION_MODE)",
    apply: (draft, value) => {
      draft.mode = parseMode(value ?? "", "--mode");
    },
  },
} as const satisfies FlagTable<CommonDraft>;

/** A draft with nothing set. */
export function emptyCommonDraft(): CommonDraft {
  return { help: false, mode: undefined };
}

/** The profile of a settings file that a flag names. */
export type ProfileDraft = { profile: string | undefined };

/** `--profile NAME`. */
export const PROFILE_FLAG: FlagSpec<ProfileDraft> = {
  takes: "value",
  hint: "NAME",
  help: 'put the sandbox block that "profiles" of a settings file has under this name on top of the others',
  apply: (draft, value) => {
    if (!value)
      throw usageFault(
        "--profile needs a name",
        'for example --profile=ci, with "profiles": {"ci": {…}} in a settings file',
      );
    draft.profile = value;
  },
};

/** `--json`; `help` says what is printed then. */
export function jsonFlag<Draft extends { json: boolean }>(help: string): FlagSpec<Draft> {
  return {
    takes: "nothing",
    help,
    apply: (draft) => {
      draft.json = true;
    },
  };
}

/** Rules given on the command line, for the calls of a model. */
export type RulesDraft = CommonDraft & ProfileDraft & { rules: RuleLists };

/** A draft with no rule. */
export function emptyRulesDraft(): RulesDraft {
  return { ...emptyCommonDraft(), profile: undefined, rules: { allow: [], ask: [], deny: [] } };
}

/** `--allow`, `--ask` and `--deny` with the common flags. */
export const RULE_FLAGS = {
  allow: ruleFlag("allow", "let calls that this rule matches run without a question (repeatable)"),
  ask: ruleFlag("ask", "ask a person about calls that this rule matches (repeatable)"),
  deny: ruleFlag("deny", "refuse calls that this rule matches; deny beats ask beats allow (repeatable)"),
  profile: PROFILE_FLAG,
  ...COMMON_FLAGS,
} as const satisfies FlagTable<RulesDraft>;

function ruleFlag(list: keyof RuleLists, help: string): FlagSpec<RulesDraft> {
  return {
    takes: "value",
    hint: "RULE",
    help,
    apply: (draft, value) => {
      if (!value) throw usageFault(`--${list} needs a rule`, `for example --${list} 'bash(git status:*)'`);
      draft.rules[list].push({ rule: value, layer: "flag", origin: `--${list}` });
    },
  };
}
