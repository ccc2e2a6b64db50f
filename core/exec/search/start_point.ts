import type { Stats } from "node:fs";
import { ToolFault } from "../../contract/fault.ts";
import type { FileView } from "../../contract/search.ts";
import { lstatOrNothing } from "./real_path.ts";

/** Looks at where a search is to start. Throws `fs.not_found`, `fs.not_a_file` or `sandbox.hidden`. */
export function startPoint(path: string, view: FileView): "file" | "folder" {
  if (!mayStartAt(path, view)) {
    throw new ToolFault({ code: "sandbox.hidden", message: `Cannot search "${path}": the policy hides it` });
  }
  const stats = lstatOrNothing(path);
  if (stats === undefined) {
    throw new ToolFault({
      code: "fs.not_found",
      message: `Cannot search "${path}": there is no such file or folder`,
      hint: "Search its parent folder, or find it with glob_search",
    });
  }
  if (stats.isDirectory()) return "folder";
  if (stats.isFile()) return "file";
  throw new ToolFault({
    code: "fs.not_a_file",
    message: `Cannot search "${path}": it is ${kindOf(stats)}, and only files and folders are searched`,
  });
}

/** True unless the policy hides the path itself. What is below it is judged as the search comes to it. */
export function mayStartAt(path: string, { hidden, closedNames, sampleEndings, mayRead }: FileView): boolean {
  if (hidden.some((closed) => path === closed || path.startsWith(`${closed}/`))) return false;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const isSample = sampleEndings.includes(name.slice(name.lastIndexOf(".") + 1).toLowerCase());
  const isClosed = closedNames.some((closed) =>
    closed.endsWith("*") ? name.startsWith(closed.slice(0, -1)) : name === closed,
  );
  return (!isClosed || isSample) && (mayRead?.([path]) ?? true);
}

function kindOf(stats: Stats): string {
  if (stats.isSymbolicLink()) return "a symbolic link";
  if (stats.isFIFO()) return "a FIFO";
  if (stats.isSocket()) return "a socket";
  return "a device";
}
