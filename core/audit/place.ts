import { placeOf, stateFolderOf, type World } from "../config/world.ts";

/** Where the log of this user is. Throws ToolFault `config.invalid` for a home that is none. */
export function auditLogOf(world: World): string {
  return `${stateFolderOf(world, placeOf(world).home)}/audit.jsonl`;
}
