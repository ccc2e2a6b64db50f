import type { Property, SandboxRequest, TrustFiles } from "@cordon/core/contract";
import { nearestNames } from "@cordon/core";
import { parseChoice, parseDuration, parseNames, parsePath, parsePaths, splitList } from "../flag_values.ts";
import { LIMIT_FLAGS } from "./limit_flags.ts";
import {
  COMMON_FLAGS,
  type CommonDraft,
  emptyCommonDraft,
  type FlagSpec,
  type FlagTable,
  PROFILE_FLAG,
  type ProfileDraft,
  usageFault,
  jsonFlag,
} from "../flags.ts";
import { PROPERTY_WORDS } from "../ui/property_words.ts";

/** What the flags of `cordon run` set. `allowNet` and `denyNet` are kept apart so that deny wins in any order. */
export type RunDraft = CommonDraft &
  ProfileDraft & {
    allowRead: string[];
    allowWrite: string[];
    denyRead: string[];
    denyWrite: string[];
    allowNet: boolean;
    denyNet: boolean;
    allowEnv: string[] | "all";
    require: Property[];
    trustFiles: TrustFiles | undefined;
    allowUnix: string[];
    reportReads: boolean;
    limits: SandboxRequest["limits"];
    timeoutMs: number | null;
    eventsFile: string | null;
    explain: boolean;
    json: boolean;
    replan: boolean;
  };

/** A draft with nothing set. */
export function emptyRunDraft(): RunDraft {
  return {
    ...emptyCommonDraft(),
    profile: undefined,
    allowRead: [],
    allowWrite: [],
    denyRead: [],
    denyWrite: [],
    allowNet: false,
    denyNet: false,
    allowEnv: [],
    require: [],
    trustFiles: undefined,
    allowUnix: [],
    reportReads: false,
    limits: {},
    timeoutMs: null,
    eventsFile: null,
    explain: false,
    json: false,
    replan: false,
  };
}

/** The flags of `cordon run`. */
export const RUN_FLAGS: FlagTable<RunDraft> = {
  "allow-read": pathFlag(
    "allowRead",
    "/",
    "let it read these too (without a path: every file); patterns such as 'data/**/*.csv' are taken",
  ),
  "allow-write": pathFlag("allowWrite", "/", "let it write these too (without a path: every file)"),
  "deny-read": pathFlag("denyRead", null, "hide these, whatever else is allowed"),
  "deny-write": pathFlag("denyWrite", null, "keep these unchanged, whatever else is allowed"),
  "allow-net": {
    takes: "optional",
    hint: "HOST,…",
    help: "let it use the network like any other program (host lists: not in this version)",
    apply: (draft, value) => {
      if (value !== null)
        throw notYet(
          `--allow-net=${value}`,
          "host lists come with the network proxy, not in this version",
          "--allow-net alone opens the whole network",
        );
      draft.allowNet = true;
    },
  },
  "deny-net": {
    takes: "optional",
    hint: "HOST,…",
    help: "no network, whatever else is allowed (host lists: not in this version)",
    apply: (draft, value) => {
      // Less network than asked to deny is safe; but a host list reads as if the other hosts were open.
      if (value !== null)
        throw notYet(
          `--deny-net=${value}`,
          "host lists come with the network proxy, not in this version",
          "--deny-net alone blocks all of it",
        );
      draft.denyNet = true;
    },
  },
  "allow-env": {
    takes: "optional",
    hint: "NAME,…",
    help: "pass these variables too (without a name: all but those that look like secrets)",
    apply: (draft, value) => {
      if (value === null) draft.allowEnv = "all";
      else if (draft.allowEnv !== "all") draft.allowEnv.push(...parseNames("allow-env", value));
    },
  },
  "allow-unix": {
    takes: "value",
    hint: "PATH,…",
    help: "let it connect to these sockets of the host, for example $SSH_AUTH_SOCK",
    apply: (draft, value, folders) => void draft.allowUnix.push(...parsePaths("allow-unix", value ?? "", folders)),
  },
  "trust-files": {
    takes: "value",
    hint: "block|report|allow",
    help: "files that other tools obey: refuse to change them (the default), list the changed ones at the end, or say nothing",
    apply: (draft, value) => {
      draft.trustFiles = parseChoice("trust-files", value ?? "", ["block", "report", "allow"] as const);
    },
  },
  report: {
    takes: "value",
    hint: "reads",
    help: "reads: see denied reads as exactly as writes; every open costs about 10 µs then",
    apply: (draft, value) => {
      parseChoice("report", value ?? "", ["reads"]);
      draft.reportReads = true;
    },
  },
  ...LIMIT_FLAGS,
  require: {
    takes: "value",
    hint: "PROPERTY,…",
    help: `run only if these are enforced, else exit 120: ${Object.keys(PROPERTY_WORDS).join(", ")}`,
    apply: (draft, value) => void draft.require.push(...splitList("require", value ?? "").map(readProperty)),
  },
  timeout: {
    takes: "value",
    hint: "TIME",
    help: "end it after this time, for example 90s or 2m; exit 124",
    apply: (draft, value) => {
      draft.timeoutMs = parseDuration("timeout", value ?? "");
    },
  },
  events: {
    takes: "value",
    hint: "FILE",
    help: "append one JSON line for each denial to this file",
    apply: (draft, value, folders) => {
      draft.eventsFile = parsePath("events", value ?? "", folders);
    },
  },
  explain: {
    takes: "nothing",
    help: "print the plan and run nothing",
    apply: (draft) => {
      draft.explain = true;
    },
  },
  json: jsonFlag("with --explain: the plan as JSON"),
  replan: {
    takes: "nothing",
    help: "plan anew, without the plan of an earlier run in the same place",
    apply: (draft) => {
      draft.replan = true;
    },
  },
  ...COMMON_FLAGS,
  profile: PROFILE_FLAG,
};

type PathList = "allowRead" | "allowWrite" | "denyRead" | "denyWrite";

function pathFlag(list: PathList, bare: string | null, help: string): FlagSpec<RunDraft> {
  const name = list.replace(/[A-Z]/, (capital) => `-${capital.toLowerCase()}`);
  return {
    takes: bare === null ? "value" : "optional",
    hint: "PATH,…",
    help,
    apply: (draft, value, folders) => {
      if (value === null && bare !== null) draft[list].push(bare);
      else draft[list].push(...parsePaths(name, value ?? "", folders));
    },
  };
}

function notYet(flag: string, why: string, hint?: string) {
  return usageFault(`${flag} can't be used: ${why}`, hint ?? "nothing was run; leave the flag out");
}

function readProperty(text: string): Property {
  if (isProperty(text)) return text;
  const known = Object.keys(PROPERTY_WORDS);
  const near = nearestNames(text, known);
  throw usageFault(
    `--require: there is no property ${JSON.stringify(text)}`,
    near.length > 0 ? `did you mean ${near.join(" or ")}?` : `properties: ${known.join(", ")}`,
  );
}

function isProperty(text: string): text is Property {
  return Object.hasOwn(PROPERTY_WORDS, text);
}
