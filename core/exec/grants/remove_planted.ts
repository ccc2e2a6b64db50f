import { lstatSync, realpathSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { Denial } from "../../contract/denial.ts";
import type { SandboxPolicy } from "../../contract/sandbox_policy.ts";

/**
 * Removes what the command made where the policy wants nothing made, and gives an event for each. No mount can stand on a
 * name that does not exist, so the kernel can't refuse them. `at` is milliseconds since the epoch. Throws what removing
 * throws: what stays must not go unnoticed.
 */
export function removePlanted(absent: SandboxPolicy["absent"], at: number): Denial[] {
  return absent.flatMap(({ path, reason }) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    // A folder that became a link leads to a file of somebody else.
    if (!found || realpathSync.native(dirname(path)) !== dirname(path)) return [];
    // A link is removed and not followed, here and below.
    rmSync(path, { recursive: true });
    return [{ at, op: "write", path, rule: "fs.protected", reason: `${reason}; removed when the command ended` }];
  });
}
