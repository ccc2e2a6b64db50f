import {
  type AuditEntry,
  type AuditFilter,
  auditLogOf,
  entriesOf,
  keeps,
  readStoredLog,
  type Verified,
  verifyLog,
} from "@cordon/core/audit";
import type { Cli, Command } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { parseCount, parseDuration } from "../flag_values.ts";
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

type AuditDraft = CommonDraft & {
  json: boolean;
  count: number;
  filter: AuditFilter;
  anchor: { seq: number; hash: string } | undefined;
};

/** Shown unless -n says otherwise. */
const DEFAULT_COUNT = 50;

/** `cordon audit`: what was called, who decided, and whether the log is whole. */
export const command: Command<AuditDraft> = {
  name: "audit",
  summary: "Show the audit log, or verify that nothing in it was changed",
  usage: "cordon audit show [flags] | cordon audit verify [--anchor SEQ:HASH] [--json]",
  details: `The log is audit.jsonl in the state folder. Every row has the hash of the row before it, and a head file beside the log the
last hash. Who can write both can write both anew: note what \`audit verify\` prints somewhere else, and give it back with
--anchor. Exit codes: 0 the log is whole, 1 it is not.`,
  flags: {
    since: {
      takes: "value",
      hint: "TIME",
      help: "calls of the last 30m, 2h or 7d, or since a date such as 2026-11-22",
      apply: (draft, value) => {
        draft.filter.since = parseSince(value ?? "", Date.now());
      },
    },
    tool: filterFlag("tool", "NAME", "calls of one tool"),
    verdict: filterFlag("verdict", "WORD", "calls that the policy would allow, ask or deny"),
    by: filterFlag(
      "decided",
      "WHO",
      "calls by who had the last word: rule, mode, person, grant, hook, sandbox, caller, …",
    ),
    failed: {
      takes: "nothing",
      help: "calls that were refused or ended in an error",
      apply: (draft) => {
        draft.filter.failed = true;
      },
    },
    count: {
      takes: "value",
      short: "n",
      hint: "N",
      help: `the newest N calls; default ${DEFAULT_COUNT}`,
      apply: (draft, value) => {
        draft.count = parseCount("count", value ?? "");
      },
    },
    anchor: {
      takes: "value",
      hint: "SEQ:HASH",
      help: "with verify: a row that was noted elsewhere must still be there",
      apply: (draft, value) => {
        draft.anchor = parseAnchor(value ?? "");
      },
    },
    json: jsonFlag("show: one JSON object a line; verify: one JSON object"),
    ...COMMON_FLAGS,
  },
  examples: [
    ["cordon audit show --since 1h --failed", "what was refused in the last hour"],
    ["cordon audit show --by person --json", "what people answered, for programs"],
    ["cordon audit verify", "whether rows were changed, removed or put in another order"],
  ],
  run: async (args, cli) => {
    const draft: AuditDraft = {
      ...emptyCommonDraft(),
      json: false,
      count: DEFAULT_COUNT,
      filter: {},
      anchor: undefined,
    };
    const [word, ...more] = readFlags(args, draft, { table: command.flags, words: "mixed", folders: foldersOf(cli) });
    if (draft.help) return printHelp(command);
    if (more.length > 0 || (word !== "show" && word !== "verify"))
      throw usageFault(
        `cordon audit ${[word, ...more].join(" ").trim()} is not known`,
        "write cordon audit show or cordon audit verify",
      );
    return word === "show" ? show(draft, cli) : verify(draft, cli);
  },
};

function filterFlag(name: "tool" | "verdict" | "decided", hint: string, help: string) {
  return {
    takes: "value" as const,
    hint,
    help,
    apply: (draft: AuditDraft, value: string | null) => {
      draft.filter[name] = value ?? "";
    },
  };
}

function parseSince(text: string, now: number): number {
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return now - Number(days) * 86_400_000;
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? now - parseDuration("since", text) : date;
}

function parseAnchor(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined)
    throw usageFault(
      `--anchor: ${JSON.stringify(text)} is no row`,
      "write what cordon audit verify has printed, SEQ:HASH",
    );
  return { seq: Number(seq), hash };
}

function show({ filter, count, json }: AuditDraft, cli: Cli): number {
  const found = entriesOf(readStoredLog(auditLogOf(cli.world))).filter((entry) => keeps(entry, filter));
  const shown = found.slice(-count);
  const lines = json ? shown.map((entry) => visibleJson(JSON.stringify(entry))) : renderEntries(shown);
  const left = found.length - shown.length;
  if (!json && left > 0) lines.unshift(`(${left} older calls are not shown; -n ${found.length} shows all)`);
  if (!json && lines.length === 0) lines.push("no calls");
  writeAnswer(lines.map((line) => `${line}\n`).join(""));
  return EXIT.ok;
}

function renderEntries(entries: readonly AuditEntry[]): string[] {
  return entries.map((entry) => {
    const { ended } = entry;
    const when = new Date(entry.at).toISOString().replace("T", " ").slice(0, 19);
    const end = ended === undefined ? "not closed" : ended.ok ? "ok" : (ended.code ?? "failed");
    const why = ended
      ? [ended.verdict, ended.decided ?? ended.by].filter((word) => word !== undefined).join(" by ")
      : "";
    const more = [
      ...(ended?.rule ? [`rule ${ended.rule}`] : []),
      ...(ended?.grants ?? []).map((id) => `approval ${id}`),
      ...(ended?.lifts?.length ? [`lifted ${ended.lifts.join(", ")}`] : []),
      ...(ended?.denials ? [`${ended.denials} blocked`] : []),
      ...(ended ? [`${Math.round(ended.durationMs)} ms`] : []),
    ];
    return visibleText(
      `${when}  #${entry.seq}  ${entry.door}  ${entry.tool}  ${end}  ${why}  ${more.join(", ")}`.trimEnd(),
    );
  });
}

function verify({ json, anchor }: AuditDraft, cli: Cli): number {
  const found = verifyLog(readStoredLog(auditLogOf(cli.world)), anchor);
  writeAnswer(json ? `${JSON.stringify(found, null, 2)}\n` : renderVerified(found));
  return found.ok ? EXIT.ok : EXIT.toolError;
}

function renderVerified({ ok, rows, files, last, faults, notes }: Verified): string {
  const head = ok
    ? `The log is whole: ${rows} rows in ${files} ${files === 1 ? "file" : "files"}.`
    : `The log is NOT whole: ${faults.length} ${faults.length === 1 ? "fault" : "faults"} in ${rows} rows.`;
  return [
    head,
    ...faults.map(({ kind, message }) => `  ${kind}: ${visibleText(message)}`),
    ...notes.map((note) => `  note: ${visibleText(note)}`),
    ...(last ? [`  last row, to note elsewhere: ${last.seq}:${last.hash}`] : []),
    "",
  ].join("\n");
}
