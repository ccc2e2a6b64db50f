import type { Settings, SettingsNotice } from "@cordon/core/contract";
import type { Cli } from "../command.ts";

/**
 * What a door tells people of settings that do not hold, about what concerns it: one line for all that waits for trust, one for each
 * entry that the managed file holds back.
 */
export function noticeLines(settings: Settings, about: readonly SettingsNotice["about"][]): string[] {
  const told = settings.notices.filter((notice) => about.includes(notice.about));
  const waiting = told.filter(({ kind }) => kind === "untrusted");
  const held = told
    .filter(({ kind }) => kind === "held" || kind === "bound")
    .map(({ origin, text }) => `${origin}: ${text}`);
  const hooks = told.filter((notice) => notice.about === "hooks").map(({ origin, text }) => `${origin}: ${text}`);
  return [...untrustedLine(waiting, settings), ...held, ...hooks];
}

function untrustedLine(waiting: readonly SettingsNotice[], { workspaceTrust }: Settings): string[] {
  const [first] = waiting;
  if (first === undefined) return [];
  const others = waiting.length > 1 ? `, and ${waiting.length - 1} more` : "";
  const why =
    workspaceTrust === "changed" ? "the files changed since you trusted them" : "this workspace is not trusted";
  return [
    `${first.origin}: ${first.text}${others}: ${why}; see them with cordon policy lint, then cordon policy trust`,
  ];
}

/** Tells a person on stderr. Loads nothing where there is nothing to tell. */
export async function tellNotices(
  cli: Cli,
  settings: Settings,
  about: readonly SettingsNotice["about"][],
): Promise<void> {
  const lines = noticeLines(settings, about);
  if (lines.length === 0) return;
  const { createMessages } = await import("./messages.ts");
  const messages = createMessages(cli);
  for (const line of lines) messages.warn(line);
}
