import { createApprovalBook } from "../authorize/approvals/book.ts";
import { grantsPathIn, newGrantId, openGrantsFile } from "../store/grants_file.ts";
import { addRules, builtinRules } from "../config/builtin_rules.ts";
import { loadSettings } from "../config/settings/load.ts";
import { configFolderOf, modeOf, placeOf, stateFolderOf, type World } from "../config/world.ts";
import type { ModeSetting } from "../contract/request.ts";
import type { Settings } from "../contract/settings.ts";
import type { Place } from "../contract/tool.ts";
import type { RuleLists, RuleSource } from "../contract/verdict.ts";
import type { CheckBasis } from "./check.ts";

/** What questions are judged by where they say nothing of their own, with the settings that it was made from. */
export type OpenedBasis = { basis: CheckBasis; settings: Settings; stateFolder: string };

/** Reads the settings files and adds the rules of flags and saved approvals. Rejects with ToolFault `config.invalid`. */
export async function openCheckBasis(
  world: World,
  flags: { rules: RuleLists; mode: ModeSetting | undefined },
): Promise<OpenedBasis> {
  const place = placeOf(world);
  const stateFolder = stateFolderOf(world, place.home);
  const settings = await loadSettings({ world, place, stateFolder });
  const saved: RuleLists = { allow: savedRules(stateFolder, world.uid, place), ask: [], deny: [] };
  const added = addRules(flags.rules, saved);
  const rules = addRules(settings.rules, settings.managedOnly ? { ...added, allow: [] } : added);
  const basis: CheckBasis = {
    builtIn: builtinRules(stateFolder, configFolderOf(world, place.home)),
    rules,
    mode: modeOf(world, flags.mode, settings),
    cwd: place.cwd,
    home: place.home,
    roots: [place.workspace, ...settings.roots],
  };
  return { basis, settings, stateFolder };
}

/** Rules that a person's approvals stand for; approvals of exact calls are about no rule. */
function savedRules(stateFolder: string, uid: number, place: Place): RuleSource[] {
  const file = openGrantsFile(grantsPathIn(stateFolder), uid);
  return createApprovalBook({ file, place, now: Date.now, newId: newGrantId }).rules();
}
