// C0 and C1 controls, bidirectional controls and marks, zero-width and other invisible characters, line separators, tags, lone surrogates.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}\ud800-\udfff]/gu;

const ESCAPES: Readonly<Record<string, string>> = { "\t": "\\t", "\n": "\\n", "\r": "\\r" };

/** Text as a person must see it: everything that a terminal would obey or hide is written as `\u{…}`. Never throws. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, (c) => ESCAPES[c] ?? `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same for text of several lines: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text
    .split("\n")
    .map((line) => line.split("\t").map(visibleText).join("\t"))
    .join("\n");
}

/** JSON text that means the same, without characters that a terminal would obey or hide: they are written as `\uXXXX`. */
export function visibleJson(json: string): string {
  // Line ends stand only between tokens; JSON.stringify writes those inside a string as \n.
  return json.replace(INVISIBLE, (c) => (c === "\n" ? c : utf16Escapes(c)));
}

function utf16Escapes(text: string): string {
  return Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
    "",
  );
}
