import { afterAll } from "bun:test";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ToolFault } from "../../core/contract/fault.ts";
import { FileNames } from "../../core/contract/file_names.ts";
import type { FilePlan } from "../../core/contract/file_plan.ts";
import type { CommandEnd, ExecGrant, Grants } from "../../core/contract/grants.ts";
import type { GlobAnswer, GrepAnswer, SearchGrant } from "../../core/contract/search.ts";
import type { AnyTool } from "../../core/contract/tool.ts";
import { createFsGrant } from "../../core/exec/grants/fs_grant.ts";

/** A new empty folder with a real path, removed when the tests of the file are over. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "cordon-test-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The plan of a call that may read and write the one path. */
export function planFor(path: string, exists: boolean): FilePlan {
  const planned = { given: path, absolute: path, real: path, exists };
  return {
    paths: [
      { ...planned, access: "read" },
      { ...planned, access: "write" },
    ],
    hidden: [],
  };
}

/** Handles that refuse everything but what is given. */
export function grantsWith(given: Partial<Grants>): Grants {
  const refuse = () => {
    throw new Error("the tool used a handle that it did not ask for");
  };
  const exec: ExecGrant = { run: refuse, start: refuse };
  const search: SearchGrant = { grep: refuse, glob: refuse };
  return { fs: { read: refuse, write: refuse }, search, exec, signal: new AbortController().signal, ...given };
}

/** Runs a file tool on one path, with handles for it. */
export function runOnFile(tool: AnyTool, args: { path: string }, exists = true): Promise<unknown> {
  return tool.run(args, grantsWith({ fs: createFsGrant(planFor(args.path, exists)) }));
}

/** The ToolFault that an action ends with; fails the test when there is none. */
export async function faultOf(action: () => unknown): Promise<ToolFault> {
  try {
    await action();
  } catch (error) {
    if (error instanceof ToolFault) return error;
    throw error;
  }
  throw new Error("no fault was thrown");
}

/** The names in a folder that a write left behind by mistake. */
export function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(".cordon-"));
}

/** A command's end with nothing remarkable; `given` overrides. */
export function commandEnd(given: Partial<CommandEnd>): CommandEnd {
  return {
    stdout: "",
    stderr: "",
    code: 0,
    signal: null,
    timedOut: false,
    cancelled: false,
    droppedBytes: 0,
    denials: [],
    trusted: [],
    enforced: { tier: "namespaces", landlockAbi: 5, properties: { "fs.write_confined": "enforced" }, ops: [] },
    ...given,
  };
}

/** Search handles that keep the queries they get. */
export function recordingSearch(): { search: SearchGrant; queries: unknown[] } {
  const queries: unknown[] = [];
  const nothing: GrepAnswer = {
    mode: "files_with_matches",
    numFiles: 0,
    filenames: FileNames.of([]),
    content: "",
    numLines: 0,
    numMatches: 0,
    totalFiles: 0,
    truncated: false,
    skipped: { binary: 0, unreadable: 0, tooLarge: 0, unreadableNames: [] },
  };
  const names: GlobAnswer = {
    filenames: FileNames.of(["/a"]),
    numFiles: 1,
    totalFiles: 1,
    truncated: false,
    unreadable: 0,
    durationMs: 1,
  };
  const search: SearchGrant = {
    grep: async (query) => {
      queries.push(query);
      return nothing;
    },
    glob: async (query) => {
      queries.push(query);
      return names;
    },
  };
  return { search, queries };
}
