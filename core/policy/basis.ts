import { addRules, builtinRules } from "../config/builtin_rules.ts";
import { loadSettings } from "../config/settings/load.ts";
import { configFolderOf, modeOf, placeOf, stateFolderOf, type World } from "../config/world.ts";
import type { ModeSetting } from "../contract/request.ts";
import type { Settings } from "../contract/settings.ts";
import type { RuleLists } from "../contract/verdict.ts";
import type { CheckBasis } from "./check.ts";

/** What questions are judged by where they say nothing of their own, with the settings that it was made from. */
export type OpenedBasis = { basis: CheckBasis; settings: Settings; stateFolder: string };

/** Reads the settings files and adds the flags' rules. Rejects with ToolFault `config.invalid`. */
export async function openCheckBasis(
  world: World,
  flags: { rules: RuleLists; mode: ModeSetting | undefined },
): Promise<OpenedBasis> {
  const place = placeOf(world);
  const stateFolder = stateFolderOf(world, place.home);
  const settings = await loadSettings({ world, place, stateFolder });
  const rules = addRules(settings.rules, settings.managedOnly ? { ...flags.rules, allow: [] } : flags.rules);
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
