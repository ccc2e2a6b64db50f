import { createCore, openSettings } from "@cordon/core";
import type { Cli, Command } from "../command.ts";
import { EXIT } from "../exit_codes.ts";
import { COMMON_FLAGS, type CommonDraft, emptyCommonDraft, readFlagsOnly, jsonFlag } from "../flags.ts";
import { NOBODY } from "../nobody.ts";
import { printHelp } from "../ui/help.ts";
import { renderSettings, shownSettings } from "../ui/render_settings.ts";
import { renderMachine } from "../ui/render_machine.ts";
import { writeAnswer } from "../ui/write_fully.ts";
import { VERSION } from "../version.ts";

type DoctorDraft = CommonDraft & { json: boolean };

/** `cordon doctor`: what this machine can enforce, and why not more. */
export const command: Command<DoctorDraft> = {
  name: "doctor",
  summary: "Say what this machine can enforce, and why not more",
  usage: "cordon doctor [--json]",
  details: "Exit code 0 when there is a sandbox for this machine, 120 when there is none.",
  flags: {
    json: jsonFlag("as one JSON object"),
    ...COMMON_FLAGS,
  },
  examples: [["cordon doctor", "each protection with its state"]],
  run: async (args, cli) => {
    const draft: DoctorDraft = { ...emptyCommonDraft(), json: false };
    readFlagsOnly(args, draft, { command, cli });
    if (draft.help) return printHelp(command);
    return examine(draft, cli);
  },
};

async function examine(draft: DoctorDraft, cli: Cli): Promise<number> {
  const settings = await openSettings({ world: cli.world });
  const core = createCore({ world: cli.world, settings, asker: NOBODY, background: "refused" });
  const report = await core.machine();
  writeAnswer(
    draft.json
      ? `${JSON.stringify({ version: VERSION, ...report, settings: shownSettings(settings) }, null, 2)}\n`
      : renderMachine(report, VERSION) + renderSettings(settings),
  );
  await core.close();
  return report.supported && report.tier !== "none" ? EXIT.ok : EXIT.unenforced;
}
