import { join } from "node:path";
import type { ReadRule, RulePattern } from "../contract/sandbox_request.ts";
import type { Surveyed } from "../contract/survey.ts";
import { type Entry, globTest } from "./look.ts";
import { isElsewhere } from "./read_rules.ts";

/** Something that a deny rule on reading is about, by its real path. */
export type RuledPlace = { path: string; folder: boolean; rule: ReadRule };

type Test = (path: string) => boolean;
type Compiled = { rule: ReadRule; patterns: { test: Test; inside: boolean }[]; except: Test };

/**
 * Finds what rules are about while a tree is looked through from its top: `look` takes a folder after the one above it. A folder
 * is closed as a whole where nothing is carved out of the rule; otherwise each file in it is, as far as the look goes.
 */
export function createRuledLook(rules: readonly ReadRule[], workspace: string, survey: (path: string) => Surveyed) {
  const compiled = rules.map(compile);
  const wild = compiled.filter(
    ({ rule }) => rule.patterns.some((pattern) => "glob" in pattern) && !isElsewhere(rule, workspace),
  );
  const found: RuledPlace[] = [];
  const open = new Map<string, Compiled[]>();
  const close = (one: Compiled, place: { path: string; folder: boolean; inside: boolean }) => {
    if (one.except(place.path)) return;
    if (!place.folder) {
      if (!place.inside) found.push({ path: survey(place.path).real, folder: false, rule: one.rule });
    } else if (one.rule.except.length === 0) found.push({ path: place.path, folder: true, rule: one.rule });
    else open.set(place.path, [...(open.get(place.path) ?? []), one]);
  };
  for (const one of compiled) {
    for (const pattern of one.rule.patterns) {
      if (!("path" in pattern)) continue;
      const { kind, real } = survey(pattern.path);
      if (kind !== "missing") close(one, { path: real, folder: kind === "folder", inside: pattern.inside });
    }
  }
  const look = (folder: string, entries: readonly Entry[]) => {
    const all = open.get(folder) ?? [];
    if (all.length === 0 && wild.length === 0) return;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const directory = entry.isDirectory();
      for (const one of all) close(one, { path, folder: directory, inside: false });
      for (const one of wild) {
        if (all.includes(one)) continue;
        const hit = one.patterns.find(({ test }) => test(path));
        if (hit) close(one, { path, folder: directory, inside: hit.inside });
      }
    }
  };
  return { found, look, carved: [...open.keys()] };
}

function compile(rule: ReadRule): Compiled {
  const patterns = rule.patterns.map((pattern) => ({ test: testOf(pattern), inside: pattern.inside }));
  const carved = rule.except.map(testOf);
  return { rule, patterns, except: (path) => carved.some((test) => covers(test, path)) };
}

function testOf(pattern: RulePattern): Test {
  if ("path" in pattern) return (path) => path === pattern.path;
  return globTest(pattern.glob);
}

/** A pattern covers what lies below it too. */
function covers(test: Test, path: string): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) if (test(path.slice(0, end))) return true;
  return false;
}
