import { Type } from "@sinclair/typebox";
import { ToolFault } from "../../contract/fault.ts";
import { structuredPatch } from "./structured_patch.ts";
import { defineTool } from "../define_tool.ts";
import { applyEdit } from "./apply_edit.ts";
import { decodeText, refuseBinary } from "./read_file.ts";

const FILE_LIMIT_BYTES = 10 * 1024 * 1024;

/** Replaces text in a file (A9, D5). Errors: edit.same, edit.not_found, edit.not_unique, fs.moved and the other fs.*. */
export const editFile = defineTool({
  name: "edit_file",
  aliases: ["Edit"],
  description:
    "Replaces old_string by new_string in a text file. old_string must be in the file exactly once, white space included; " +
    "with replace_all every place is replaced. When it is there more than once, the error names the lines: give more lines " +
    "around the place. Line ends of the file (CRLF or LF), its BOM and its permissions stay. Files above 10 MiB are refused.",
  requires: "workspace-write",
  params: () =>
    Type.Object(
      {
        path: Type.String({ minLength: 1, description: "The file; absolute, or relative to the working folder" }),
        old_string: Type.String({ minLength: 1, description: "The text to replace, without line numbers" }),
        new_string: Type.String({ description: "The text to put there; empty removes old_string" }),
        replace_all: Type.Optional(Type.Boolean({ default: false, description: "Replace every place, not only one" })),
      },
      { additionalProperties: false },
    ),
  paramAliases: { file_path: "path" },
  readOnly: () => false,
  concurrencySafe: () => false,
  title: (args) => `Edit ${args.path ?? "a file"}`,
  needs: (args) => {
    // Here and not in run, so that nobody is asked about a call that can't do anything.
    if (args.old_string === args.new_string) throw sameText();
    return [
      { kind: "fs.read", path: args.path },
      { kind: "fs.write", path: args.path },
    ];
  },
  run: async (args, { fs }) => {
    const { path, bytes } = fs.read(args.path, FILE_LIMIT_BYTES);
    refuseBinary(path, bytes);
    const request = { oldString: args.old_string, newString: args.new_string, replaceAll: args.replace_all ?? false };
    const { content, replacements } = applyEdit(path, bytes, request);
    if (Buffer.compare(content, bytes) === 0) throw sameText();
    fs.write(args.path, content, bytes);
    const patch = structuredPatch(decodeText(bytes), decodeText(content));
    return { filePath: path, ...request, replacements, ...patch };
  },
});

function sameText(): ToolFault {
  return new ToolFault({
    code: "edit.same",
    message: "Cannot edit: old_string and new_string are the same, so nothing would change",
    hint: "Give the text as it should become in new_string",
  });
}
