import type { GrepDraft } from "./grep_flags.ts";

/**
 * The pattern of grep_search for what the flags say, as ripgrep puts it together: any of several patterns may match, -x is an anchor
 * on both sides, and with -U a dot matches a line end only if that is asked for.
 */
export function patternOf(draft: GrepDraft): { pattern: string; fixed_strings: boolean } {
  const { patterns = [], boundary, dotMatchesLineEnd, input } = draft;
  const fixed = input["fixed_strings"] === true;
  const [only = ""] = patterns;
  const dotStops = input["multiline"] === true && !dotMatchesLineEnd && !fixed;
  if (patterns.length === 1 && boundary !== "line" && !dotStops && only !== "") {
    return { pattern: only, fixed_strings: fixed };
  }
  const parts = fixed ? patterns.map(escaped) : patterns;
  const any = parts.length === 1 ? (parts[0] ?? "") : parts.map((part) => `(?:${part})`).join("|");
  const seen = dotStops ? `(?-s:${any})` : any;
  // A tool takes no empty pattern; an empty group matches what it would.
  return { pattern: (boundary === "line" ? `^(?:${seen})$` : seen) || "(?:)", fixed_strings: false };
}

/** The characters that regex_syntax::escape puts a backslash before. */
function escaped(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$#&\-~]/g, "\\$&");
}
