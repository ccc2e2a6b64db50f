import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** What of cordon lies about on this machine: private folders and control groups without a living maker, and mounts. */
export type Traces = { temporaries: string[]; mounts: string[]; groups: string[] };

/** Looks for traces. */
export function findTraces(): Traces {
  return {
    temporaries: readdirSync("/tmp").filter(isOfTheDead),
    mounts: readFileSync("/proc/self/mountinfo", "utf8").split("\n").filter(Boolean),
    groups: groupsOfTheDead("/sys/fs/cgroup"),
  };
}

/** What is there and was not before. */
export function newTraces(before: Traces, now = findTraces()): Traces {
  const added = (name: keyof Traces) => now[name].filter((entry) => !before[name].includes(entry));
  return { temporaries: added("temporaries"), mounts: added("mounts"), groups: added("groups") };
}

/** True when there are none. */
export function isClean({ temporaries, mounts, groups }: Traces): boolean {
  return temporaries.length + mounts.length + groups.length === 0;
}

/** A name holds the pid namespace, the id and the time of start of the process that made it. */
function isOfTheDead(name: string): boolean {
  const maker = name.match(MADE)?.[1];
  return maker !== undefined && !existsSync(`/proc/${maker}`);
}

const MADE = /^cordon-\d+-(\d+)-\d+(-[0-9a-f]+)?$/;

function groupsOfTheDead(folder: string): string[] {
  return entriesOf(folder).flatMap((name) => {
    const path = join(folder, name);
    if (!MADE.test(name)) return groupsOfTheDead(path);
    return isOfTheDead(name) ? [path] : [];
  });
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? entry.name : []));
  } catch {
    // Gone, or not there at all.
    return [];
  }
}

/** Ids of processes, in whatever namespace, that work in or below this folder: the launcher's own too, which no command line names. */
export function processesIn(folder: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const place = readlinkSync(`/proc/${name}/cwd`);
      return place === folder || place.startsWith(`${folder}/`) ? [Number(name)] : [];
    } catch {
      // Ended, or not ours to look at.
      return [];
    }
  });
}
