import { Type } from "@sinclair/typebox";
import type { IgnoreKind, SearchScope } from "../../contract/search.ts";

/** The field `no_ignore` of both search tools: all ignore files, or kinds of them. */
export const noIgnore = (description: string) =>
  Type.Optional(
    Type.Union(
      [
        Type.Boolean(),
        Type.Array(
          Type.Union([
            Type.Literal("dot"),
            Type.Literal("exclude"),
            Type.Literal("global"),
            Type.Literal("parent"),
            Type.Literal("vcs"),
          ]),
        ),
      ],
      { default: false, description: `${description}: true for all of them, or kinds of ignore files` },
    ),
  );

/** The part of the query that `no_ignore` becomes. */
export function ignoreScope(given: boolean | readonly IgnoreKind[] | undefined): Partial<SearchScope> {
  if (given === undefined) return {};
  return typeof given === "boolean" ? { noIgnore: given } : { noIgnoreKinds: given };
}

/** A field that takes one text or several. */
export const oneOrMore = (description: string) =>
  Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }))], { description });

type Several = string | string[];

/** The part of the query that the fields become that choose files. */
export function fileScope(args: {
  glob?: Several;
  iglob?: Several;
  type?: Several;
  type_not?: Several;
}): Partial<SearchScope> {
  return {
    ...(args.glob === undefined ? {} : { globs: [args.glob].flat() }),
    ...(args.iglob === undefined ? {} : { iglobs: [args.iglob].flat() }),
    ...(args.type === undefined ? {} : { types: [args.type].flat() }),
    ...(args.type_not === undefined ? {} : { typesNot: [args.type_not].flat() }),
  };
}
