import type { Node, ParseError } from "jsonc-parser";
import { ToolFault } from "../../contract/fault.ts";

/** A value of a JSON file with its place. `key` is its path in the file, for example `permissions.deny[2]`. */
export type Located = {
  key: string;
  origin: string;
  value: unknown;
  /** Of an object: its members by name. `named` is the place of the name. */
  members?: ReadonlyMap<string, Located & { named: string }>;
  /** Of a list. */
  items?: Located[];
};

/** The deepest nesting of a settings file; none needs a tenth of it. */
const DEPTH_LIMIT = 32;

/** Parses JSON with comments and trailing commas. `path` is for messages. Rejects with ToolFault `config.invalid`. */
export async function parseLocated(path: string, text: string): Promise<Located> {
  // Loaded where there is a file, and not before.
  const { parseTree, printParseErrorCode } = await import("jsonc-parser");
  const place = placesIn(path, text);
  const deep = tooDeep(text);
  if (deep !== null) throw invalid(place(deep), `is nested deeper than ${DEPTH_LIMIT} levels`, "write it flatter");
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false, allowEmptyContent: false });
  const [first] = errors;
  if (first !== undefined || tree === undefined) {
    const code = first === undefined ? "ValueExpected" : printParseErrorCode(first.error);
    const [what, wanted] = wordsOf(code);
    throw invalid(place(first?.offset ?? 0), what, wanted);
  }
  return locate(tree, "", place);
}

/** The fault of a settings file: where, what was found, what is wanted. */
export function invalid(origin: string, found: string, wanted: string): ToolFault {
  return new ToolFault({ code: "config.invalid", message: `${origin}: ${found}`, hint: wanted });
}

function locate(node: Node, key: string, place: (offset: number) => string): Located {
  const origin = place(node.offset);
  if (node.type === "array") {
    const items = (node.children ?? []).map((child, at) => locate(child, `${key}[${at}]`, place));
    return { key, origin, value: items.map(({ value }) => value), items };
  }
  if (node.type !== "object") return { key, origin, value: node.value };
  const members = new Map<string, Located & { named: string }>();
  for (const { children } of node.children ?? []) {
    const [name, value] = children ?? [];
    if (name === undefined || value === undefined) continue;
    const text = String(name.value);
    const inner = key === "" ? text : `${key}.${text}`;
    // Other readers keep the last one; the first "deny" list of a file must not vanish without a word.
    if (members.has(text))
      throw invalid(place(name.offset), `${JSON.stringify(inner)} stands twice`, "keep one of them");
    members.set(text, { ...locate(value, inner, place), named: place(name.offset) });
  }
  return { key, origin, value: Object.fromEntries([...members].map(([name, { value }]) => [name, value])), members };
}

/** `path:line:column` of an offset in UTF-16 units; both count from 1, as editors do. */
function placesIn(path: string, text: string): (offset: number) => string {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset);
    return `${path}:${line + 1}:${offset - (starts[line] ?? 0) + 1}`;
  };
}

/** The parser calls itself for each level, so the levels are counted before. Brackets in texts and comments count too little to matter. */
function tooDeep(text: string): number | null {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (inText) {
      if (sign === "\\") at++;
      else if (sign === '"' || sign === "\n") inText = false;
    } else if (sign === '"') inText = true;
    else if (sign === "/" && text[at + 1] === "/") at = lineEnd(text, at);
    else if (sign === "/" && text[at + 1] === "*") at = commentEnd(text, at);
    else if (sign === "{" || sign === "[") depth++;
    else if (sign === "}" || sign === "]") depth--;
    if (depth > DEPTH_LIMIT) return at;
  }
  return null;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

function commentEnd(text: string, at: number): number {
  const end = text.indexOf("*/", at + 2);
  return end < 0 ? text.length : end + 1;
}

function wordsOf(code: string): [found: string, wanted: string] {
  return WORDS[code] ?? ["this is no JSON", "write JSON; comments and trailing commas are taken"];
}

const WORDS: Readonly<Record<string, [found: string, wanted: string]>> = {
  InvalidSymbol: ["this word is no JSON", "put texts in double quotes; true, false and null go without"],
  InvalidNumberFormat: ["this is no number", "write a number as JSON does"],
  PropertyNameExpected: ["the name of a key is missing", 'write "key": value, with the name in double quotes'],
  ValueExpected: ["a value is missing", 'write a value behind the ":" or ","'],
  ColonExpected: ['a ":" is missing', "write it between the key and its value"],
  CommaExpected: ['a "," is missing', "write it between two entries"],
  CloseBraceExpected: ['a "}" is missing', "close the object"],
  CloseBracketExpected: ['a "]" is missing', "close the list"],
  EndOfFileExpected: ["something follows the end", "one JSON object is a whole file"],
  InvalidCommentToken: ["this is no comment", "write // or /* … */"],
  UnexpectedEndOfComment: ["a comment does not end", "write */"],
  UnexpectedEndOfString: ["a text does not end", "close it with a double quote"],
  UnexpectedEndOfNumber: ["a number does not end", "write the whole number"],
  InvalidUnicode: ["\\u is not followed by four hexadecimal digits", "mend or remove it"],
  InvalidEscapeCharacter: ["a \\ stands before a letter that needs none", "write \\\\ for a backslash"],
  InvalidCharacter: ["a control character stands in a text", "write it as \\u and four digits"],
};
