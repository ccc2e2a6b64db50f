import type { Settings } from "@cordon/core/contract";
import { visibleText } from "./visible_text.ts";

/** What programs are told of the settings files: which there are, what trust they have and what in them does not hold. */
export function shownSettings({ files, workspaceTrust, mode, ceiling, notices }: Settings): object {
  return { files, workspaceTrust, ...(mode ? { mode } : {}), ...(ceiling ? { ceiling } : {}), notices };
}

/** The same for people, below another report. Ends in a newline. */
export function renderSettings({ files, workspaceTrust, notices }: Settings): string {
  const rows = files.map(({ layer, path, state }) => `  ${layer.padEnd(8)} ${state.padEnd(9)} ${visibleText(path)}`);
  const trust = workspaceTrust === "nothing to trust" ? [] : [`workspace trust: ${workspaceTrust}`];
  const told = notices.map(({ origin, text }) => `  ${visibleText(origin)}: ${visibleText(text)}`);
  return `\nsettings files, weakest first:\n${[...rows, ...trust, ...told].join("\n")}\n`;
}
