/** The door for those who list and revoke approvals; asking for them is the path's own business. */
import { resolvePath } from "../../config/resolve_path.ts";
import { placeOf, stateFolderOf, type World } from "../../config/world.ts";
import type { Grant } from "../../contract/approval.ts";
import { ToolFault } from "../../contract/fault.ts";
import { compilePolicy, releasePolicy } from "../../engine/policy.ts";
import { type GrantsFile, grantsPathIn, newGrantId, openGrantsFile } from "../../store/grants_file.ts";
import { isOver } from "./book.ts";

/** A rule that a person allows by hand. Times are milliseconds; `folder` is as the person wrote it. */
export type AddedRule = { rule: string; scope: "project" | "user"; forMs?: number; uses?: number; folder?: string };

/** The approvals of this user. Every method throws the ToolFaults of the file (`policy.bad_grants`, `state.locked`). */
export type Approvals = {
  /** Those that still hold somewhere, the newest last. */
  list: () => readonly Grant[];
  /** Rejects with ToolFault `policy.bad_rule` for a rule that can't be used. */
  add: (asked: AddedRule) => Promise<Grant>;
  revoke: (ids: readonly string[]) => { revoked: string[]; unknown: string[] };
  /** `aside` is where a file that could not be read is now. */
  clear: () => { removed: number; aside?: string };
};

/** Opens them for the working folder that the process started in. Throws ToolFault `config.invalid`. */
export function openApprovals(world: World): Approvals {
  const place = placeOf(world);
  const file = openGrantsFile(grantsPathIn(stateFolderOf(world, place.home)), world.uid);
  const still = (grants: readonly Grant[]) => grants.filter((grant) => !isOver(grant, Date.now()));
  return {
    list: () => still(file.read()),
    add: async ({ rule, scope, forMs, uses, folder }) => {
      await requireRule(rule);
      const madeAt = Date.now();
      const grant: Grant = {
        id: newGrantId(),
        rules: [rule],
        shows: rule,
        scope,
        ...(scope === "project" ? { workspace: place.workspace } : {}),
        ...(folder === undefined ? {} : { folder: resolvePath(folder, place.cwd, place.home).real }),
        madeAt,
        ...(forMs === undefined ? {} : { expiresAt: madeAt + forMs }),
        ...(uses === undefined ? {} : { usesLeft: uses }),
        by: "cordon approvals add",
      };
      file.change((stored) => [...still(stored), grant]);
      return grant;
    },
    revoke: (ids) => {
      let known: string[] = [];
      file.change((stored) => {
        known = stored.map(({ id }) => id);
        return stored.filter(({ id }) => !ids.includes(id));
      });
      return { revoked: ids.filter((id) => known.includes(id)), unknown: ids.filter((id) => !known.includes(id)) };
    },
    clear: () => clear(file),
  };
}

function clear(file: GrantsFile): { removed: number; aside?: string } {
  let removed = 0;
  try {
    file.change((stored) => {
      removed = stored.length;
      return [];
    });
    return { removed };
  } catch (error) {
    if (!(error instanceof ToolFault) || error.code !== "policy.bad_grants") throw error;
    const aside = file.reset();
    return { removed, ...(aside === undefined ? {} : { aside }) };
  }
}

async function requireRule(rule: string): Promise<void> {
  const source = { rule, layer: "grant", origin: "cordon approvals add" };
  const made = await compilePolicy({ allow: [source], ask: [], deny: [] });
  if (made.ok) return releasePolicy(made.policy);
  throw new ToolFault({
    code: "policy.bad_rule",
    message: `${JSON.stringify(rule)} can't be used: ${made.faults.map(({ why }) => why).join("; ")}`,
    hint: "see the README for the forms of a rule",
  });
}
