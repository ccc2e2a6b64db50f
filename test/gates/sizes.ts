/** Short functions, honest files. Tables are exempt: a long list of records of one shape stays readable. */
import ts from "typescript";
import { nodesOf, parse, placeOf, type Source } from "./sources.ts";

const MAX_FUNCTION_LINES = 60;
const MAX_FILE_LINES = 400;
const MAX_PARAMETERS = 4;

/** Everything that is too long, as "place: what is wrong". */
export function sizeFaults(sources: Source[]): string[] {
  return sources.flatMap((source) => (source.path.endsWith(".rs") ? rustFaults(source) : typeScriptFaults(source)));
}

function typeScriptFaults(source: Source): string[] {
  const tree = parse(source);
  const faults: string[] = [];
  for (const node of nodesOf(tree)) {
    if (!isFunction(node) || isCallbackOfTest(source, node)) continue;
    const place = placeOf(source, tree, node);
    const lines = linesOf(tree, node);
    if (lines > MAX_FUNCTION_LINES) faults.push(tooLong(place, "function", lines, MAX_FUNCTION_LINES));
    if (node.parameters.length > MAX_PARAMETERS) faults.push(tooMany(place, node.parameters.length));
  }
  const tables = tree.statements.filter(isTable).reduce((sum, table) => sum + linesOf(tree, table), 0);
  const lines = source.text.split("\n").length - 1 - tables;
  if (lines > MAX_FILE_LINES) faults.push(tooLong(source.path, "file", lines, MAX_FILE_LINES));
  return faults;
}

function isFunction(node: ts.Node): node is ts.FunctionLikeDeclaration {
  return ts.isFunctionLike(node) && "body" in node && node.body !== undefined;
}

/** `describe(…, () => { … })` is a heading, not a function. */
function isCallbackOfTest(source: Source, node: ts.Node): boolean {
  return source.path.endsWith(".test.ts") && ts.isArrowFunction(node) && ts.isCallExpression(node.parent);
}

/** A constant whose value is one literal list or record. */
function isTable(statement: ts.Statement): boolean {
  if (!ts.isVariableStatement(statement)) return false;
  return statement.declarationList.declarations.every(
    ({ initializer }) => initializer !== undefined && isLiteral(initializer),
  );
}

function isLiteral(value: ts.Expression): boolean {
  if (ts.isSatisfiesExpression(value) || ts.isAsExpression(value)) return isLiteral(value.expression);
  if (ts.isNewExpression(value)) return value.arguments?.length === 1 && value.arguments.every(isLiteral); // new Set([…])
  return ts.isArrayLiteralExpression(value) || ts.isObjectLiteralExpression(value);
}

function linesOf(tree: ts.SourceFile, node: ts.Node): number {
  const line = (position: number) => tree.getLineAndCharacterOfPosition(position).line;
  return line(node.end) - line(node.getStart(tree)) + 1;
}

/** Works on text that rustfmt laid out: what opens on a line closes on a line with the same indentation. */
function rustFaults(source: Source): string[] {
  const all = source.text.split("\n");
  const testModule = all.findIndex((line, at) => line === "#[cfg(test)]" && all[at + 1]?.startsWith("mod ") === true);
  const code = testModule < 0 ? all : all.slice(0, testModule);
  const faults: string[] = [];
  let tableLines = 0;
  for (const [at, line] of code.entries()) {
    const opened = /^(\s*)((?:pub(?:\([^)]*\))? )?(?:const |static |async |unsafe |extern "\w+" )*)(fn )?/.exec(line);
    const isTableStart = /^(pub(\([^)]*\))? )?(const|static) [A-Z_0-9]+: .*[[{(]$/.test(line);
    if (opened?.[3] === undefined && !isTableStart) continue;
    const lines = blockLines(code, at, opened?.[1] ?? "");
    if (isTableStart) tableLines += lines;
    else faults.push(...rustFunctionFaults(source.path, code, at, lines));
  }
  const lines = code.length - 1 - tableLines;
  if (lines > MAX_FILE_LINES) faults.push(tooLong(source.path, "file", lines, MAX_FILE_LINES));
  return faults;
}

function rustFunctionFaults(path: string, code: string[], at: number, lines: number): string[] {
  const place = `${path}:${at + 1}`;
  const parameters = rustParameters(code.slice(at, at + lines).join("\n"));
  return [
    ...(lines > MAX_FUNCTION_LINES ? [tooLong(place, "function", lines, MAX_FUNCTION_LINES)] : []),
    ...(parameters > MAX_PARAMETERS ? [tooMany(place, parameters)] : []),
  ];
}

function blockLines(code: string[], start: number, indent: string): number {
  const ends = (line: string) =>
    line.startsWith(`${indent}}`) || line.startsWith(`${indent}]`) || line === `${indent});`;
  if (/[};]$/.test(code[start] ?? "")) return 1;
  const length = code.slice(start + 1).findIndex(ends);
  return length < 0 ? code.length - start : length + 2;
}

/** Counts the parameters of a `fn` other than self: commas outside any bracket. */
function rustParameters(text: string): number {
  const open = text.indexOf("(", text.search(/\bfn \w+/));
  let depth = 0;
  const parts = [""];
  for (const char of text.slice(open)) {
    if ("([{<".includes(char)) depth += 1;
    if (")]}>".includes(char)) depth -= 1;
    if (depth === 0) break;
    if (char === "," && depth === 1) parts.push("");
    else parts.push((parts.pop() ?? "") + char);
  }
  const named = parts.map((part) => part.replace(/^\(/, "").trim());
  return named.filter((part) => part !== "" && !/^&?('\w+ )?(mut )?self\b/.test(part)).length;
}

function tooLong(place: string, what: string, lines: number, limit: number): string {
  return `${place}: ${what} has ${lines} lines, the limit is ${limit}`;
}

function tooMany(place: string, parameters: number): string {
  return `${place}: function has ${parameters} parameters, the limit is ${MAX_PARAMETERS}`;
}
