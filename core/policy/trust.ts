import { loadSettings } from "../config/settings/load.ts";
import { readTrust, TRUST_FILE, type TrustBook } from "../config/settings/trust.ts";
import { placeOf, stateFolderOf, type World } from "../config/world.ts";
import type { Settings } from "../contract/settings.ts";
import { ToolFault } from "../contract/fault.ts";
import { replaceStateFile } from "../store/state_file.ts";

/** What `policy trust` did: `before` has what waited for it. */
export type TrustChange = { workspace: string; before: Settings; after: Settings };

/** Trusts the workspace's settings files as they are now. Rejects with ToolFault `config.invalid` where there are none. */
export async function trustWorkspace(world: World, now: number): Promise<TrustChange> {
  return change(world, (book, { workspace, digest }) => {
    if (digest === undefined) {
      throw new ToolFault({
        code: "config.invalid",
        message: `There is nothing to trust in ${JSON.stringify(workspace)}: it has no .cordon/config.json and no .cordon/config.local.json`,
        hint: "start in the project's own folder",
      });
    }
    return { ...book, [workspace]: { digest, at: now } };
  });
}

/** Takes the trust back; nothing happens where there was none. */
export async function distrustWorkspace(world: World): Promise<TrustChange> {
  return change(world, (book, { workspace }) => {
    const { [workspace]: _, ...others } = book;
    return others;
  });
}

type Here = { workspace: string; digest: string | undefined };

async function change(world: World, edit: (book: TrustBook, here: Here) => TrustBook): Promise<TrustChange> {
  const place = placeOf(world);
  const { workspace } = place;
  const stateFolder = stateFolderOf(world, place.home);
  const load = () => loadSettings({ world, place, stateFolder });
  const before = await load();
  const workspaces = edit(readTrust(stateFolder, world.uid), { workspace, digest: before.digest });
  replaceStateFile({ folder: stateFolder, name: TRUST_FILE, uid: world.uid }, { version: 1, workspaces });
  return { workspace, before, after: await load() };
}
