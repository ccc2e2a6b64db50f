/** Searches of a tree of changing_tree.ts, made from numbers: half of them were asked before, for the same page or another. */
import type { GlobQuery, GrepQuery } from "../../core/contract/search.ts";
import { join } from "node:path";
import { WORDS } from "./changing_tree.ts";

/** A search, as a query and as the tool that makes it. */
export type Asked = { tool: "grep_search"; query: GrepQuery } | { tool: "glob_search"; query: GlobQuery };

/** A number below `end`, the next of a series. */
export type Roll = (end: number) => number;

/** Searches that are remembered here to be asked again. */
const MOST_EARLIER = 24;

const GLOBS = ["**/*.ts", "*.md", "part1*/**", "*", "n*.ts", "f1*", "*.{rs,log}", "[a-f]*.ts", "**/src/*.ts", "f?.ts"];
const MODES = ["content", "files_with_matches", "count", "count_matches", "files_without_match"] as const;

/** Asks one search after the other. */
export class Asker {
  readonly #tree: string;
  readonly #roll: Roll;
  readonly #earlier: Asked[] = [];

  constructor(tree: string, roll: Roll) {
    this.#tree = tree;
    this.#roll = roll;
  }

  /** The next search. */
  next(): Asked {
    const roll = this.#roll;
    const again = roll(2) === 0 ? this.#earlier[roll(this.#earlier.length || 1)] : undefined;
    if (again !== undefined) return this.#otherPage(again);
    const asked = roll(4) === 0 ? this.#names() : this.#contents();
    if (this.#earlier.length < MOST_EARLIER) this.#earlier.push(asked);
    else this.#earlier[roll(MOST_EARLIER)] = asked;
    return asked;
  }

  /** The same search, or the same for another page, or shown otherwise. */
  #otherPage(asked: Asked): Asked {
    const roll = this.#roll;
    if (roll(3) === 0) return asked;
    const offset = roll(2) === 0 ? 0 : roll(60);
    if (asked.tool === "glob_search")
      return { ...asked, query: { ...asked.query, offset, limit: roll(3) === 0 ? 0 : 1 + roll(60) } };
    // Without a limit the lines would be more than an answer may hold.
    const all = roll(4) === 0 && asked.query.mode !== "content";
    const page = { offset, headLimit: all ? 0 : 1 + roll(80) };
    const context = roll(3) === 0 ? { before: roll(3), after: roll(3) } : {};
    return { ...asked, query: { ...asked.query, ...page, ...context, lineNumbers: roll(3) > 0 } };
  }

  #path(): string {
    return this.#roll(5) === 0 ? join(this.#tree, `part${this.#roll(30)}`) : this.#tree;
  }

  #names(): Asked {
    const roll = this.#roll;
    const query: GlobQuery = {
      pattern: GLOBS[roll(GLOBS.length)] ?? "*",
      path: this.#path(),
      limit: roll(2) === 0 ? 100 : 20,
      order: roll(2) === 0 ? "path" : "newest",
      ...(roll(3) === 0 ? { includeHidden: true } : {}),
      ...(roll(4) === 0 ? { noIgnore: true } : {}),
      ...(roll(4) === 0 ? { ignoreCase: true } : {}),
    };
    return { tool: "glob_search", query };
  }

  #contents(): Asked {
    const roll = this.#roll;
    const word = WORDS[roll(WORDS.length)] ?? "abc";
    const plain = word.replace(/[()]/g, "\\$&");
    const patterns = [
      plain,
      `${plain}$`,
      `line \\d+ ${plain}`,
      `(${plain}|needle)`,
      `\\b${plain}`,
      plain.slice(0, 4),
      "\\w+ \\d",
    ];
    const query: GrepQuery = {
      pattern: patterns[roll(patterns.length)] ?? plain,
      path: this.#path(),
      before: 0,
      after: 0,
      lineNumbers: true,
      offset: 0,
      includeHidden: roll(4) === 0,
      noIgnore: roll(5) === 0,
      letterCase: roll(3) === 0 ? "ignore" : "sensitive",
      word: roll(6) === 0,
      multiline: roll(5) === 0,
      fixed: false,
      mode: MODES[roll(MODES.length)] ?? "content",
      headLimit: roll(3) === 0 ? 20 : 100,
      ...(roll(8) === 0 ? { invert: true } : {}),
      ...(roll(8) === 0 ? { maxCount: 1 + roll(3) } : {}),
      ...(roll(6) === 0 ? { globs: [["*.ts", "!*.rs", "*.log", "src/**"][roll(4)] ?? "*"] } : {}),
      ...(roll(6) === 0 ? { types: ["ts"] } : {}),
    };
    return { tool: "grep_search", query };
  }
}

/** The same as a call of the tool. */
export function inputOf({ tool, query }: Asked): object {
  const { pattern, path, includeHidden, noIgnore } = query;
  const shared = {
    pattern,
    path,
    ...(includeHidden ? { hidden: true } : {}),
    ...(noIgnore ? { no_ignore: true } : {}),
    ...(query.offset ? { offset: query.offset } : {}),
  };
  if (tool === "glob_search") {
    const { limit, order, ignoreCase } = query;
    return { ...shared, limit, ...(order ? { order } : {}), ...(ignoreCase ? { ignore_case: true } : {}) };
  }
  const { globs, types, letterCase, word, multiline, mode, headLimit, invert, maxCount } = query;
  const flags = { "-i": letterCase === "ignore", word, multiline, output_mode: mode, head_limit: headLimit };
  const shown = { "-n": query.lineNumbers, "-B": query.before, "-A": query.after };
  const more = { ...(invert ? { invert } : {}), ...(maxCount ? { max_count: maxCount } : {}) };
  return {
    ...shared,
    ...flags,
    ...(mode === "content" ? shown : {}),
    ...more,
    ...(globs ? { glob: globs } : {}),
    ...(types ? { type: types } : {}),
  };
}

/** What two answers must have in common: all but times, and what was remembered. */
export function found(answer: object): object {
  const left = new Set(["durationMs", "unreadable", "index"]);
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !left.has(name)));
}
