import type { World } from "../../config/world.ts";
import { endLooks } from "../../config/look.ts";
import type { PlannedCall } from "../../contract/call.ts";
import type { LinuxPlan } from "../../contract/plan.ts";
import type { SandboxPolicy } from "../../contract/sandbox_policy.ts";
import { BUILD } from "../../version.ts";
import { execute } from "./become_launcher.ts";
import type { OpenLauncher } from "./launcher_file.ts";
import { nativeCalls } from "./native_calls.ts";
import type { MachineMarks } from "./probe.ts";
import { writeRecord } from "./run_record.ts";

/** What this process needs to become the launcher after planning. */
export type ReplacementParts = {
  world: World;
  /** The words of the command line before the command. */
  flags: readonly string[];
  stateFolder: string;
  log: string;
  machine: () => MachineMarks;
  /** The audit row that is open, with the milliseconds since. */
  row: () => { id: string; sinceMs: number } | undefined;
  /** The last that this program does. */
  before: () => void;
};

/** A planned command that waits for the launcher. */
export type Planned = { call: PlannedCall; plan: LinuxPlan; rules: SandboxPolicy; launcher: OpenLauncher };

/** Becomes the launcher. Comes back only when that is not possible: then the command runs below this process as ever. */
export function createReplacement(parts: ReplacementParts): (planned: Planned) => void {
  return ({ call, plan, rules, launcher }) => {
    const { world, flags, stateFolder } = parts;
    const looks = endLooks();
    const row = parts.row();
    const calls = nativeCalls();
    if (!calls || !looks || !row || BUILD === null) return;
    let record: number;
    try {
      const key = { flags, cwd: world.cwd, env: world.env, build: BUILD };
      const place = { stateFolder, uid: world.uid, launcher: launcher.fd, key };
      const { decision, request } = call;
      const made = { plan, rules, looks, machine: parts.machine(), decision, input: request.input, env: world.env };
      record = writeRecord({ ...made, log: parts.log }, place, (path) => calls.open(path));
    } catch {
      return; // No room, for example. The command needs none.
    }
    if (record < 0) return;
    parts.before();
    execute(calls, { launcher: launcher.program, record, program: world.program, flags, argv: plan.command.argv, row });
    calls.close(record);
  };
}
