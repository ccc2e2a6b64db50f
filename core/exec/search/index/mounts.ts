import { readFileSync } from "node:fs";
import { isWithin } from "../../../config/path_order.ts";

/** Field of a line of proc_pid_mountinfo(5): where it is mounted, with spaces and backslashes as octal numbers. */
const MOUNT_POINT = 4;

/** The mounts that decide what is below a folder: those on the way to it and those in it. */
export function mountsAround(folder: string): string {
  const isAround = (line: string): boolean => {
    const point = plainText(line.split(" ")[MOUNT_POINT] ?? "");
    return isWithin(folder, point) || isWithin(point, folder);
  };
  return readFileSync("/proc/self/mountinfo", "utf8").split("\n").filter(isAround).join("\n");
}

function plainText(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
