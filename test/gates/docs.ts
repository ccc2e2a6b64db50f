/** Every export says what it is, its units and its errors: a doc comment stands directly above it. */
import ts from "typescript";
import { parse, placeOf, type Source } from "./sources.ts";

/** Exports without a doc comment directly above, as "place: name". Re-exports are documented where they are made. */
export function docFaults(sources: Source[]): string[] {
  return sources.flatMap((source) => {
    const tree = parse(source);
    return tree.statements
      .filter((statement) => isExported(statement) && !hasDoc(tree, statement))
      .map(
        (statement) =>
          `${placeOf(source, tree, statement)}: export ${nameOf(statement)} has no doc comment directly above`,
      );
  });
}

/** Rust crates whose compiler does not insist on docs: neither in the manifest nor in the root file. */
export function crateFaults(manifests: Source[], roots: Source[]): string[] {
  return manifests
    .filter((manifest) => manifest.text.includes("[package]"))
    .filter((manifest) => {
      const folder = manifest.path.replace(/Cargo\.toml$/, "src/");
      const inRoot = roots.some(
        (root) =>
          (root.path === `${folder}lib.rs` || root.path === `${folder}main.rs`) &&
          /^#!\[(deny|forbid)\(.*missing_docs/m.test(root.text),
      );
      const inherits = /\[lints\]\s*\nworkspace = true/.test(manifest.text) && workspaceDenies(manifests, manifest);
      return !inRoot && !inherits && !/missing_docs = "(deny|forbid)"/.test(manifest.text);
    })
    .map((manifest) => `${manifest.path}: this crate does not deny missing_docs`);
}

function workspaceDenies(manifests: Source[], member: Source): boolean {
  const folder = member.path.split("/")[0];
  const workspace = manifests.find((manifest) => manifest.path === `${folder}/Cargo.toml`);
  return workspace !== undefined && /missing_docs = "(deny|forbid)"/.test(workspace.text);
}

function isExported(statement: ts.Statement): boolean {
  if (ts.isExportAssignment(statement)) return true;
  if (!ts.canHaveModifiers(statement)) return false;
  return ts.getModifiers(statement)?.some((modifier) => modifier.kind === ts.SyntaxKind.ExportKeyword) === true;
}

/** Overloads share the comment above the first of them. */
function hasDoc(tree: ts.SourceFile, statement: ts.Statement): boolean {
  const previous = tree.statements[tree.statements.indexOf(statement) - 1];
  if (previous !== undefined && ts.isFunctionDeclaration(previous) && previous.body === undefined) return true;
  const comments = ts.getLeadingCommentRanges(tree.text, statement.pos) ?? [];
  const last = comments.at(-1);
  if (last === undefined || !tree.text.slice(last.pos, last.end).startsWith("/**")) return false;
  return /^\r?\n?[ \t]*$/.test(tree.text.slice(last.end, statement.getStart(tree)));
}

function nameOf(statement: ts.Statement): string {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map((one) => one.name.getText()).join(", ");
  if ("name" in statement && statement.name !== undefined) return (statement.name as ts.Identifier).getText();
  return "default";
}
