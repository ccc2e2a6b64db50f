import { expect, test } from "bun:test";
import type { ReadQuestion } from "../contract/search.ts";
import { NO_RULES, type PolicyQuestion } from "../contract/verdict.ts";
import { decisionOf } from "../testing/small_core.ts";
import { mayReadBy, throughLink } from "./may_read.ts";

const ASKED: ReadQuestion = {
  rules: NO_RULES,
  about: {
    tool: "grep_search",
    required: "read-only",
    mode: "workspace-write",
    params: {},
    cwd: "/w",
    home: "/h",
    roots: ["/w"],
  },
};

/** Denies paths that end in "key", asks about those that end in "draft", and notes what it was asked. */
function judged() {
  const asked: string[][] = [];
  const judge = ({ effects }: PolicyQuestion) => {
    const paths = effects.flatMap((effect) => ("path" in effect ? [effect.path] : []));
    asked.push(paths);
    const ends = (end: string) => paths.some((path) => path.endsWith(end));
    return decisionOf(ends("key") ? "deny" : ends("draft") ? "ask" : "allow");
  };
  return { asked, mayRead: mayReadBy(judge, ASKED) };
}

test("D7 a yes to many paths is asked for once, and is no yes to any other list of them", () => {
  const { asked, mayRead } = judged();
  expect([mayRead(["/w/a", "/w/b"]), mayRead(["/w/a", "/w/b"])]).toEqual([true, true]);
  expect(asked).toEqual([["/w/a", "/w/b"]]);
  expect([mayRead(["/w/a"]), mayRead(["/w/a", "/w/b", "/w/key"]), mayRead(["/w/a/w/b"])]).toEqual([true, false, true]);
  expect(asked.slice(1)).toEqual([["/w/a"], ["/w/a", "/w/b", "/w/key"], ["/w/a/w/b"]]);
});

test("D7 what is denied and what would ask are no each time, beside a file that is open", () => {
  const { asked, mayRead } = judged();
  for (let turn = 0; turn < 2; turn += 1)
    expect([mayRead(["/w/key"]), mayRead(["/w/draft"]), mayRead(["/w/a"])]).toEqual([false, false, true]);
  expect(asked).toHaveLength(5);
});

test("D7 a path that a caller made up is never taken for a list of others, nor half a surrogate pair for what stands in its place", () => {
  const { mayRead } = judged();
  expect([mayRead(["/w/a\0/w/key\0"]), mayRead(["/w/a", "/w/key", ""])]).toEqual([true, false]);
  expect([mayRead(['/w/a","/w/key"']), mayRead(["/w/a", "/w/key"])]).toEqual([true, false]);
  const { asked, mayRead: again } = judged();
  expect([again(["/w/\uFFFD"]), again(["/w/\uD800"])]).toEqual([true, true]);
  expect(asked).toHaveLength(2);
});

test("D7 what is remembered is bounded: a list that was forgotten is asked for again, and one that is denied stays so", () => {
  const { asked, mayRead } = judged();
  const lists = 20_001;
  for (let at = 0; at < lists; at += 1) mayRead([`/w/${at}`]);
  expect([mayRead(["/w/0"]), mayRead([`/w/${lists - 1}`]), mayRead(["/w/key"])]).toEqual([true, true, false]);
  expect(asked.slice(lists)).toEqual([["/w/0"], ["/w/key"]]);
});

test("D4 D7 what is at or below a link is asked about by both names in one question, what is beside or above it by its own", () => {
  const { asked, mayRead } = judged();
  const through = throughLink(mayRead, { from: "/w/alias", to: "/w/store" });
  expect(through(["/w/store", "/w/store/a", "/w/stores/a", "/w/.ignore"])).toBe(true);
  expect(asked).toEqual([["/w/alias", "/w/store", "/w/alias/a", "/w/store/a", "/w/stores/a", "/w/.ignore"]]);
  const named = throughLink(mayRead, { from: "/w/key", to: "/w/store" });
  expect([named(["/w/store/a"]), named(["/w/store"]), named(["/w/store/draft"])]).toEqual([true, false, false]);
});

test("D4 D7 a link to the root is a name of all there is, and without a link each path is asked about by its one name", () => {
  const { asked, mayRead } = judged();
  expect(throughLink(mayRead, { from: "/w/all", to: "/" })(["/", "/w/a"])).toBe(true);
  expect(throughLink(mayRead, undefined)(["/w/a"])).toBe(true);
  expect(asked).toEqual([["/w/all", "/", "/w/all/w/a", "/w/a"], ["/w/a"]]);
});
