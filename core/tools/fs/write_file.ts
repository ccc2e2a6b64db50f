import { Type } from "@sinclair/typebox";
import { defineTool } from "../define_tool.ts";

/**
 * Writes a whole file. The answer has neither the new content (the caller has it) nor the old (the caller may be allowed to
 * write what it may not read). Errors: fs.*.
 */
export const writeFile = defineTool({
  name: "write_file",
  aliases: ["Write"],
  description:
    "Writes a text file whole, replacing what was in it; parent folders are made. The file changes in one step or not at " +
    "all, and keeps its permissions. Content is written as given, in UTF-8, no line end is added. To change a part of a file " +
    "use edit_file.",
  requires: "workspace-write",
  params: () =>
    Type.Object(
      {
        path: Type.String({ minLength: 1, description: "The file; absolute, or relative to the working folder" }),
        content: Type.String({ description: "The whole new content" }),
      },
      { additionalProperties: false },
    ),
  paramAliases: { file_path: "path" },
  readOnly: () => false,
  concurrencySafe: () => false,
  title: (args) => `Write ${args.path ?? "a file"}`,
  needs: (args) => [{ kind: "fs.write", path: args.path }],
  run: async (args, { fs }) => {
    const content = Buffer.from(args.content);
    const written = fs.write(args.path, content);
    return { type: written.created ? "create" : "update", filePath: written.path, bytes: content.length };
  },
});
