/** The files of this repository as the gates see them: path relative to the root, text, and for TypeScript the syntax tree. */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { listFiles, ROOT } from "../../cli/build/cache.ts";

/** One file. `path` has forward slashes and is relative to the root. */
export type Source = { path: string; text: string };

/** Every file below these folders that people wrote: no packages, no build products. */
export function readSources(folders: string[], endings: string[]): Source[] {
  return folders
    .flatMap((folder) => listFiles(join(ROOT, folder)))
    .filter((path) => endings.some((ending) => path.endsWith(ending)))
    .map((path) => ({ path: relative(ROOT, path), text: readFileSync(path, "utf8") }));
}

/** TypeScript of the product: core/ and cli/ without the build scripts. Tests beside the source only when asked for. */
export function productSources(tests: "with_tests" | "without_tests"): Source[] {
  return readSources(["core", "cli"], [".ts"]).filter(
    (source) =>
      !source.path.startsWith("cli/build/") &&
      !source.path.endsWith(".d.ts") &&
      (tests === "with_tests" || !source.path.endsWith(".test.ts")),
  );
}

/** The syntax tree, with parents. */
export function parse(source: Source): ts.SourceFile {
  return ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest, true);
}

/** All nodes of a tree, parents first. */
export function nodesOf(node: ts.Node): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (one: ts.Node): void => {
    found.push(one);
    ts.forEachChild(one, visit);
  };
  visit(node);
  return found;
}

/** "path:line" of a node, for messages an editor can jump to. */
export function placeOf(source: Source, tree: ts.SourceFile, node: ts.Node): string {
  return `${source.path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`;
}
