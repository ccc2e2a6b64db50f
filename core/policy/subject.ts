import { ToolFault } from "../contract/fault.ts";
import type { CheckSubject } from "./check_line.ts";

/** Tools whose call is about one path, with what they do to it. Names as in rules, lower case. */
const PATH_TOOLS: Readonly<Record<string, "read" | "write">> = {
  read: "read",
  read_file: "read",
  glob_search: "read",
  grep_search: "read",
  list_dir: "read",
  write: "write",
  write_file: "write",
  edit: "write",
  edit_file: "write",
  multi_edit: "write",
};

/** Parameters that hold the path. */
const PATH_PARAMS = ["path", "file_path", "notebook_path"];

/**
 * What the words of `policy explain [TOOL] TEXT` are about: a command, a path for the tools of files, JSON parameters for any tool. Throws
 * ToolFault `usage`.
 */
export function subjectOf(tool: string | undefined, text: string): CheckSubject {
  const name = (tool ?? "bash").toLowerCase();
  const params = text.trimStart().startsWith("{") ? paramsOf(text, tool) : undefined;
  if (name === "bash") return { kind: "command", command: tool && params ? (params["command"] ?? "") : text };
  const op = Object.hasOwn(PATH_TOOLS, name) ? PATH_TOOLS[name] : undefined;
  if (op === undefined) return { kind: "call", tool: tool ?? "bash", params: params ?? {} };
  const path = params ? PATH_PARAMS.flatMap((key) => params[key] ?? [])[0] : text;
  if (path === undefined) throw noPath(tool ?? name);
  return { kind: "path", op, path };
}

function paramsOf(text: string, tool: string | undefined): Record<string, string> | undefined {
  if (tool === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, one]) =>
        ["string", "number", "boolean"].includes(typeof one) ? [[key, String(one)]] : [],
      ),
    );
  } catch {
    return undefined;
  }
}

function noPath(tool: string): ToolFault {
  return new ToolFault({
    code: "usage",
    message: `The input of ${tool} names no path`,
    hint: 'for example {"path":"README.md"}',
  });
}
