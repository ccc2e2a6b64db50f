import { Type } from "@sinclair/typebox";
import { defineTool } from "../define_tool.ts";
import { fileScope, ignoreScope, noIgnore, oneOrMore } from "./scope_fields.ts";

/** How many names one answer holds (A11). */
const NAME_LIMIT = 100;

/** Finds files by name, the newest first (A11, D6). Errors: search.bad_glob, fs.not_found, sandbox.hidden. */
export const globSearch = defineTool({
  name: "glob_search",
  aliases: ["Glob"],
  description:
    "Finds files whose path matches a glob like **/*.ts or src/*.{c,h}. Returns absolute paths, the last changed first, at " +
    "most 100; truncated says that there are more. Files that .gitignore names and hidden files are left out.",
  requires: "read-only",
  params: () =>
    Type.Object(
      {
        pattern: Type.String({ minLength: 1, description: "The glob, relative to path: *, **, ?, [a-z], {a,b}" }),
        path: Type.Optional(
          Type.String({ minLength: 1, description: "The folder to search; default the working folder" }),
        ),
        glob: Type.Optional(
          oneOrMore("Only files that fit this too; ! in front turns it round; the last that fits decides"),
        ),
        iglob: Type.Optional(oneOrMore("The same, whatever the case of letters; comes after glob")),
        type: Type.Optional(oneOrMore("Only files of this type of ripgrep's list, like ts, py, rust")),
        type_not: Type.Optional(oneOrMore("No files of this type")),
        offset: Type.Optional(Type.Integer({ minimum: 0, description: "Files to skip first; default 0" })),
        ignore_case: Type.Optional(Type.Boolean({ description: "Upper and lower case are the same; default false" })),
        no_ignore: noIgnore("Find files too that ignore files name"),
        limit: Type.Optional(Type.Integer({ minimum: 0, description: "Paths at most; 0 is no limit; default 100" })),
        order: Type.Optional(
          Type.Union([Type.Literal("newest"), Type.Literal("path")], {
            description: "What comes first; default newest",
          }),
        ),
        hidden: Type.Optional(
          Type.Boolean({ description: "Find hidden files too; default only if the pattern names some" }),
        ),
      },
      { additionalProperties: false },
    ),
  readOnly: () => true,
  concurrencySafe: () => true,
  title: (args) => `Find ${args.pattern ?? "files"}`,
  needs: (args) => [{ kind: "fs.search", path: args.path ?? "." }],
  run: async (args, { search, signal }) => {
    const query = {
      pattern: args.pattern,
      path: args.path ?? ".",
      limit: args.limit ?? NAME_LIMIT,
      ...(args.order === undefined ? {} : { order: args.order }),
      ...fileScope(args),
      ...ignoreScope(args.no_ignore),
      ...(args.offset === undefined ? {} : { offset: args.offset }),
      ...(args.ignore_case === undefined ? {} : { ignoreCase: args.ignore_case }),
      ...(args.hidden === undefined ? {} : { includeHidden: args.hidden }),
    };
    const { unreadable, ...found } = await search.glob(query, signal);
    return { ...found, ...(unreadable > 0 ? { unreadable } : {}) };
  },
});
