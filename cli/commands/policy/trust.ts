import { distrustWorkspace, type TrustChange, trustWorkspace } from "@cordon/core/policy";
import type { Cli, Command } from "../../command.ts";
import { EXIT } from "../../exit_codes.ts";
import { COMMON_FLAGS, type CommonDraft, emptyCommonDraft, readFlagsOnly, jsonFlag } from "../../flags.ts";
import { printHelp } from "../../ui/help.ts";
import { visibleText } from "../../ui/visible_text.ts";
import { writeAnswer } from "../../ui/write_fully.ts";

type TrustDraft = CommonDraft & { revoke: boolean; json: boolean };

/** `cordon policy trust`. */
export const command: Command<TrustDraft> = {
  name: "policy trust",
  summary: "Let the settings files of this workspace loosen the policy too",
  usage: "cordon policy trust [--revoke] [--json]",
  details: `A project's .cordon/config.json and .cordon/config.local.json may only tighten until you trust them: read them first. Trust is for this
folder and for what the files say now; when one of them changes, it ends.
Exit codes: 0 done, 121 there is nothing to trust, or a file can't be used.`,
  flags: {
    revoke: {
      takes: "nothing",
      help: "take the trust back",
      apply: (draft) => {
        draft.revoke = true;
      },
    },
    json: jsonFlag("what was done as one JSON object"),
    ...COMMON_FLAGS,
  },
  examples: [
    ["cordon policy trust", "trust this folder's files as they are now"],
    ["cordon policy trust --revoke", "and no longer"],
  ],
  run: async (args, cli) => {
    const draft: TrustDraft = { ...emptyCommonDraft(), revoke: false, json: false };
    readFlagsOnly(args, draft, { command, cli, instead: "it is about the folder that it starts in" });
    if (draft.help) return printHelp(command);
    return change(draft, cli);
  },
};

async function change(draft: TrustDraft, { world }: Cli): Promise<number> {
  const done = draft.revoke ? await distrustWorkspace(world) : await trustWorkspace(world, Date.now());
  writeAnswer(draft.json ? `${JSON.stringify(shown(done, draft), null, 2)}\n` : render(done, draft));
  return EXIT.ok;
}

function shown({ workspace, before, after }: TrustChange, { revoke }: TrustDraft): object {
  const entries = (revoke ? after : before).notices.filter(({ kind }) => kind === "untrusted");
  return { workspace, trust: after.workspaceTrust, entries };
}

function render({ workspace, before, after }: TrustChange, { revoke }: TrustDraft): string {
  const name = visibleText(workspace);
  if (revoke) return `${name} is not trusted: its settings files only tighten\n`;
  const files = after.files.filter(
    ({ layer, state }) => state === "in force" && (layer === "project" || layer === "local"),
  );
  const now = before.notices.filter(({ kind }) => kind === "untrusted");
  return [
    `${name} is trusted as it is now: ${files.map(({ path }) => visibleText(path)).join(", ")}`,
    ...(now.length > 0 ? ["in force from now on:"] : ["nothing in it loosens anything"]),
    ...now.map(({ origin, text }) => `  ${visibleText(origin)}: ${visibleText(text.replace(/ is not .*$/, ""))}`),
    "",
  ].join("\n");
}
