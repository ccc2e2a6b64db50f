import { type Approvals, openApprovals } from "@cordon/core/authorize/approvals";
import type { Grant } from "@cordon/core/contract";
import type { Command } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { parseChoice, parseCount, parseDuration } from "../flag_values.ts";
import {
  COMMON_FLAGS,
  type CommonDraft,
  emptyCommonDraft,
  foldersOf,
  readFlags,
  usageFault,
  jsonFlag,
} from "../flags.ts";
import { printHelp } from "../ui/help.ts";
import { visibleJson, visibleText } from "../ui/visible_text.ts";
import { writeAnswer } from "../ui/write_fully.ts";

type ApprovalsDraft = CommonDraft & {
  json: boolean;
  scope: "project" | "user";
  forMs: number | undefined;
  uses: number | undefined;
  folder: string | undefined;
};

/** `cordon approvals`: what people have allowed for good, and taking it back. */
export const command: Command<ApprovalsDraft> = {
  name: "approvals",
  summary: "List, add and revoke saved approvals",
  usage: "cordon approvals list | add RULE [flags] | revoke ID… | clear",
  details: `Approvals are what a person answered with "always", and what \`add\` saves. They are allow rules, or exactly one command with the
programs that it runs: when one of those changes, the command asks again. No approval opens what a rule denies, or a
built-in limit. \`clear\` revokes all of them, and puts a file aside that can't be read.`,
  flags: {
    scope: {
      takes: "value",
      hint: "project|user",
      help: "add: for this project (the default) or for every one",
      apply: (draft, value) => {
        draft.scope = parseChoice("scope", value ?? "", ["project", "user"]);
      },
    },
    for: {
      takes: "value",
      hint: "TIME",
      help: "add: for so long, for example 30m",
      apply: (draft, value) => {
        draft.forMs = parseDuration("for", value ?? "");
      },
    },
    uses: {
      takes: "value",
      hint: "N",
      help: "add: for so many calls",
      apply: (draft, value) => {
        draft.uses = parseCount("uses", value ?? "");
      },
    },
    folder: {
      takes: "value",
      hint: "PATH",
      help: "add: only for calls made in or below this folder",
      apply: (draft, value) => {
        draft.folder = value ?? "";
      },
    },
    json: jsonFlag("as one JSON text"),
    ...COMMON_FLAGS,
  },
  examples: [
    ["cordon approvals list", "what is saved, and for how long"],
    ["cordon approvals add 'Bash(npm run *)' --for 30m --uses 10", "a rule for half an hour and ten calls"],
    ["cordon approvals revoke 1f0c2a9b", "take one back"],
  ],
  run: async (args, cli) => {
    const draft: ApprovalsDraft = {
      ...emptyCommonDraft(),
      json: false,
      scope: "project",
      forMs: undefined,
      uses: undefined,
      folder: undefined,
    };
    const [verb, ...words] = readFlags(args, draft, { table: command.flags, words: "mixed", folders: foldersOf(cli) });
    if (draft.help) return printHelp(command);
    const approvals = openApprovals(cli.world);
    if (verb === "list" && words.length === 0) return list(approvals.list(), draft);
    if (verb === "add") return add(approvals, words, draft);
    if (verb === "revoke" && words.length > 0) return revoke(approvals, words, draft);
    if (verb === "clear" && words.length === 0) return clear(approvals, draft);
    throw usageFault(`cordon approvals ${args.join(" ")} is not known`, `write ${command.usage}`);
  },
};

function list(grants: readonly Grant[], { json }: ApprovalsDraft): number {
  const lines = grants.length === 0 ? ["no approvals"] : grants.flatMap(renderGrant);
  writeAnswer(json ? printed(grants) : lines.map((line) => `${line}\n`).join(""));
  return EXIT.ok;
}

async function add(approvals: Approvals, words: readonly string[], draft: ApprovalsDraft): Promise<number> {
  const [rule, ...more] = words;
  if (rule === undefined || more.length > 0)
    throw usageFault("One rule is wanted", "put it in quotes: cordon approvals add 'Bash(npm test)'");
  const { scope, forMs, uses, folder, json } = draft;
  const limits = {
    ...(forMs === undefined ? {} : { forMs }),
    ...(uses === undefined ? {} : { uses }),
    ...(folder === undefined ? {} : { folder }),
  };
  const grant = await approvals.add({ rule, scope, ...limits });
  writeAnswer(
    json
      ? printed(grant)
      : renderGrant(grant)
          .map((line) => `${line}\n`)
          .join(""),
  );
  return EXIT.ok;
}

function revoke(approvals: Approvals, ids: readonly string[], { json }: ApprovalsDraft): number {
  const { revoked, unknown } = approvals.revoke(ids);
  writeAnswer(json ? printed({ revoked, unknown }) : revoked.map((id) => `revoked ${id}\n`).join(""));
  if (unknown.length > 0)
    throw usageFault(`No approval has the id ${unknown.join(", ")}`, "cordon approvals list shows them");
  return EXIT.ok;
}

function clear(approvals: Approvals, { json }: ApprovalsDraft): number {
  const { removed, aside } = approvals.clear();
  const text =
    aside === undefined ? `${removed} revoked\n` : `the file could not be read; it is kept as ${visibleText(aside)}\n`;
  writeAnswer(json ? printed({ removed, ...(aside === undefined ? {} : { aside }) }) : text);
  return EXIT.ok;
}

function renderGrant({
  id,
  rules,
  shows,
  scope,
  workspace,
  folder,
  expiresAt,
  usesLeft,
  bound,
  madeAt,
  by,
}: Grant): string[] {
  const date = (ms: number) => new Date(ms).toISOString().replace("T", " ").slice(0, 16);
  const where = scope === "user" ? "every project" : `in ${workspace}`;
  const limits = [
    where,
    ...(folder === undefined ? [] : [`below ${folder}`]),
    ...(expiresAt === undefined ? [] : [`until ${date(expiresAt)}`]),
    ...(usesLeft === undefined ? [] : [`${usesLeft} more uses`]),
    `made ${date(madeAt)} by ${by}`,
  ];
  return [
    `${id}  ${visibleText(rules ? rules.join(", ") : shows)}`,
    `          ${visibleText(limits.join(", "))}`,
    ...(bound?.files ?? []).map(({ path }) => `          as long as ${visibleText(path)} stays as it was`),
  ];
}

function printed(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, null, 2))}\n`;
}
