import { readFileSync } from "node:fs";

/** Memory of a process that lies in RAM, in megabytes (proc(5), VmRSS). */
export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}
