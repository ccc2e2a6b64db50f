/** Deny rules on reading, from the syntax of rules to what a sandbox can hide. Mirror of `path` in wasm/policy/src/rules/pattern.rs. */
import { join } from "node:path";
import type { ReadRule, RulePattern } from "../contract/sandbox_request.ts";
import type { Place } from "../contract/tool.ts";
import type { RuleSource } from "../contract/verdict.ts";
import { fixedFolder, isGlob, literal } from "./globs.ts";
import { globTest } from "./look.ts";
import { isWithin } from "./path_order.ts";

/** The names of the tool whose rules are about reading as such, as rules spell them: lower case, without `_` and `-`. */
const READERS: readonly string[] = ["read", "readfile", "readmanyfiles", "view", "cat"];

/** A rule that commands are not kept from by the sandbox, with the reason. */
export type LeftRule = { rule: string; origin: string; why: string };

/** Deny rules told apart: what the sandbox hides, and what it can't. The built-in ones are about what it hides anyway. */
export function readRules(deny: readonly RuleSource[], place: Place): { rules: ReadRule[]; left: LeftRule[] } {
  const rules: ReadRule[] = [];
  const left: LeftRule[] = [];
  for (const source of deny) {
    // Those of sandbox.denyRead are closed as what they are.
    if (source.layer === "built-in" || source.reason?.startsWith("sandbox.")) continue;
    const spec = specOf(source.rule);
    if (spec === undefined) continue;
    const { rule, origin } = source;
    const patterns = patternsOf(spec, place);
    const except = (source.except ?? []).flatMap((text) => patternsOf(specOf(text) ?? "", place));
    if (patterns.some((pattern) => closesWorkspace(pattern, place)))
      left.push({ rule, origin, why: "it would close the workspace itself, where commands start" });
    else rules.push({ rule, origin, patterns, except });
  }
  return { rules, left };
}

/** What stands in the parentheses of a rule on reading; "" where nothing does, undefined for any other rule. */
function specOf(rule: string): string | undefined {
  const parts = /^\s*([\w:-]+?)\s*(?:\((.*)\)\s*)?$/s.exec(rule);
  const name = (parts?.[1] ?? "").toLowerCase();
  const spec = parts?.[2]?.trim() ?? "";
  if (name === "effect:read") return spec;
  if (!READERS.includes(name.replaceAll(/[_-]/g, ""))) return undefined;
  const named = /^(?:path|file_path|filepath)\s*:\s*(.*)$/s.exec(spec)?.[1];
  if (named === undefined) return spec;
  return named.startsWith("/") && !named.startsWith("//") ? `/${named}` : named;
}

/** More than one where `**` stands inside a name. */
function patternsOf(spec: string, place: Place): RulePattern[] {
  const { base, rest } = baseOf(spec, place);
  const below = rest.replace(/^\.\//, "");
  const trimmed = below.replace(/\/+$/, "").replace(/(?:^|\/)\*\*$/, "");
  const inside = trimmed !== below;
  if (trimmed === "") return [{ path: base, inside: true }];
  const bare = base === place.cwd && !/^\.?\//.test(spec) && !below.replace(/\/+$/, "").includes("/");
  return spread(trimmed).map((text) => {
    const glob = `${base === "/" ? "" : literal(base)}/${bare ? "**/" : ""}${text}`;
    return isGlob(glob) ? { glob, inside } : { path: glob.replace(/\\(.)/gs, "$1"), inside };
  });
}

function baseOf(spec: string, { cwd, home, workspace }: Place): { base: string; rest: string } {
  if (spec === "" || spec === "*") return { base: "/", rest: "" };
  if (spec.startsWith("//")) return { base: "/", rest: spec.slice(2) };
  if (spec === "~") return { base: home, rest: "" };
  if (spec.startsWith("~/")) return { base: home, rest: spec.slice(2) };
  if (spec.startsWith("/")) return { base: workspace, rest: spec.slice(1) };
  return { base: cwd, rest: spec };
}

/** gitignore's syntax as globs: a set of letters is any letter, as in the policy; all else stands for itself. */
function spread(text: string): string[] {
  const parts = text.split(/(\\.|\*\*\/|\*+|\?|\[[^\]]+\])/s);
  const made = parts.map((part, at) => {
    if (part.startsWith("\\")) return literal(part.slice(1));
    // `a**b` spans folders, and globs of the launcher span them by whole names only.
    if (part === "**/") return at < 2 || parts[at - 1]?.endsWith("/") ? "**/" : "*/**/";
    if (part.startsWith("**")) return "**";
    return part === "*" || part === "?" ? part : part.startsWith("[") && part.length > 2 ? "?" : literal(part);
  });
  const [before, ...after] = made.join("").split(/\*\*(?!\/)/);
  if (after.length === 0) return [made.join("")];
  const last = after.at(-1) ?? "";
  return [`${before}*${last}`, `${before}*/**/*${last}`];
}

function closesWorkspace(pattern: RulePattern, { workspace, cwd }: Place): boolean {
  if ("path" in pattern) return isWithin(workspace, pattern.path) || isWithin(cwd, pattern.path);
  const [matches, holds] = [globTest(pattern.glob), globTest(`${pattern.glob}/**`)];
  // A name that nobody gives a file: only a pattern that matches all of them matches this one.
  return matches(workspace) || holds(workspace) || matches(join(workspace, "\u{1}", "\u{1}"));
}

/** A rule whose places can't be found by looking through the workspace: its patterns begin elsewhere. */
export function isElsewhere({ patterns }: ReadRule, workspace: string): boolean {
  return patterns.some((pattern) => "glob" in pattern && !isWithin(fixedFolder(pattern.glob), workspace));
}
