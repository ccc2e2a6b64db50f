import type { PlannedCall } from "../contract/call.ts";
import type { Grants } from "../contract/grants.ts";
import type { Outcome } from "../contract/outcome.ts";
import { failureOf } from "../contract/refuse.ts";
import { createExecGrant, type ExecRecord } from "./grants/exec_grant.ts";
import { createFsGrant } from "./grants/fs_grant.ts";
import type { GitSettings } from "../config/git_places.ts";
import { createSearchGrant, type ReadFilter } from "./grants/search_grant.ts";
import type { LocalHost } from "./hosts/local_host.ts";
import type { SearchIndex } from "./search/index/search_index.ts";

/** The machines that calls can run on. */
export type Hosts = {
  local: LocalHost;
  /** The rules on reading, for a tool that walks folders: each file it meets is judged as if it had been named. */
  readFilter: (tool: string) => Promise<ReadFilter>;
  /** Where git's settings are: searches keep to the person's global excludes. */
  git: GitSettings;
  /** What a process that lasts remembers of trees that were searched. */
  searchIndex?: () => Promise<SearchIndex>;
};

/** Runs a planned call with handles cut from its plan. Never throws: a tool's error is an outcome. */
export async function execute(call: PlannedCall, hosts: Hosts): Promise<Outcome> {
  const record: ExecRecord = { denials: [], trusted: [] };
  const { signal } = call.request;
  try {
    signal.throwIfAborted();
    const output = await call.tool.run(call.args, grantsFor(call, hosts, record));
    return stamp(call, { ok: true, output }, record);
  } catch (error) {
    const failure = failureOf(error, "execute");
    const cancelled = signal.aborted && failure.code === "tool.crashed";
    return stamp(
      call,
      {
        ok: false,
        failure: cancelled ? { code: "tool.cancelled", message: "The call was cancelled", at: "execute" } : failure,
      },
      record,
    );
  }
}

function grantsFor(call: PlannedCall, hosts: Hosts, record: ExecRecord): Grants {
  return {
    fs: createFsGrant(call.plan.files),
    search: createSearchGrant(call.plan.files, {
      readable: () => hosts.readFilter(call.tool.name),
      git: hosts.git,
      record,
      ...(hosts.searchIndex ? { index: hosts.searchIndex } : {}),
    }),
    exec: createExecGrant(call, hosts.local, record),
    signal: call.request.signal,
  };
}

type Ended = { ok: true; output: unknown } | { ok: false; failure: ReturnType<typeof failureOf> };

function stamp(call: PlannedCall, ended: Ended, { enforced, denials, trusted, index }: ExecRecord): Outcome {
  const { coercions, decision } = call;
  const facts = {
    denials,
    trusted,
    coercions,
    decision,
    ...(enforced ? { enforced } : {}),
    ...(index ? { index } : {}),
  };
  // The tool ran on its plan and ended, well or not; this is the only maker of Outcome.
  return { ...ended, ...facts } as Outcome;
}
