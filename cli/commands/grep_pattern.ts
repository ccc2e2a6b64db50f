import type { GrepDraft } from "./grep_flags.ts";

/**
 * The pattern of grep_search for what the flags say, as ripgrep puts it together: any of several patterns may match, -x is an anchor
 * on both sides, and with -U a dot matches a line end only if that is asked for. Each pattern stands in a group, so that `a)|(b` is a pattern
 * and one that ends in a comment is none.
 */
export function patternOf(draft: GrepDraft): { pattern: string; fixed_strings: boolean } {
  const { patterns = [], boundary, dotMatchesLineEnd, input } = draft;
  const fixed = input["fixed_strings"] === true;
  const [only = ""] = patterns;
  const dotStops = input["multiline"] === true && !dotMatchesLineEnd && !fixed;
  // Without a closing parenthesis it is the same in a group.
  const isPlain = only !== "" && (fixed || !only.includes(")"));
  if (patterns.length === 1 && boundary !== "line" && !dotStops && isPlain) {
    return { pattern: only, fixed_strings: fixed };
  }
  const any = (fixed ? patterns.map(escaped) : patterns).map(grouped).join("|");
  const seen = dotStops ? `(?-s:${any})` : any;
  return { pattern: boundary === "line" ? `^(?:${seen})$` : seen, fixed_strings: false };
}

/** A pattern as a part of another one. A tool takes no empty pattern; an empty group matches what it would. */
export function grouped(pattern: string): string {
  return `(?:${pattern})`;
}

/** The characters that regex_syntax::escape puts a backslash before. */
function escaped(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$#&\-~]/g, "\\$&");
}
