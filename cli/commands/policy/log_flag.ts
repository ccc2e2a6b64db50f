import { parsePath } from "../../flag_values.ts";
import type { FlagSpec } from "../../flags.ts";

/** Another audit log than this user's own: an absolute path. */
export type LogDraft = { log: string | undefined };

/** `--log FILE` of the commands that read what was decided before. */
export const LOG_FLAG: FlagSpec<LogDraft> = {
  takes: "value",
  hint: "FILE",
  help: "another audit log than this user's own",
  apply: (draft, value, folders) => {
    draft.log = parsePath("log", value ?? "", folders);
  },
};
