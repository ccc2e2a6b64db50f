import { readdirSync, readFileSync } from "node:fs";

/** Ids of the processes of this machine whose command line holds `marker`, in whatever namespace they are. */
export function processesWith(marker: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(marker) ? [Number(name)] : [];
    } catch {
      // It ended between the listing and the look.
      return [];
    }
  });
}

/** An argument for sleep(1) that no other process has: a day and a fraction. */
export function uniqueSleep(): string {
  return `86400.${crypto.getRandomValues(new Uint32Array(2)).join("")}`;
}
