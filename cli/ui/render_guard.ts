import type { Guard, GuardEffect, GuardRule } from "@cordon/core/contract";
import { visibleText } from "./visible_text.ts";

const EFFECT_WORDS = {
  allow: "left to the kernel",
  deny: "refused",
  report: "allowed, and listed at the end",
  git_config: "refused but for git's own way, with keys that run nothing",
} as const satisfies Record<GuardEffect, string>;

const ACCESS_WORDS = { read: "read", write: "change", both: "read or change" } as const;

/** The broker's rules for people: rules that follow each other and say the same stand together. Lines without their ends. */
export function renderGuard(guard: Guard): string[] {
  const whole = [
    ...(guard.gitLayout ? ["new hooks and settings in repositories of any name are refused"] : []),
    ...(guard.metadata ? ["modes, owners, times and attributes count as changes"] : []),
    ...(guard.reads ? ["every open is looked at"] : []),
    ...guard.unix.map((path) => `may connect to ${visibleText(path)}`),
  ];
  return [...whole.map((line) => `          ${line}`), ...groups(guard.rules).flatMap(renderGroup)];
}

function groups(rules: readonly GuardRule[]): GuardRule[][] {
  const all: GuardRule[][] = [];
  for (const rule of rules) {
    const last = all.at(-1);
    if (last?.[0] && head(last[0]) === head(rule)) last.push(rule);
    else all.push([rule]);
  }
  return all;
}

function head({ access, effect, reason }: GuardRule): string {
  return `to ${ACCESS_WORDS[access]}: ${EFFECT_WORDS[effect]} (${visibleText(reason)})`;
}

function renderGroup(rules: readonly GuardRule[]): string[] {
  const places = rules.map(({ path, glob, when }) => {
    const condition = when === "exists" ? ", once it is there" : when === "symlink" ? ", as a symlink" : "";
    return `            ${visibleText(path ?? glob ?? "")}${condition}`;
  });
  return rules[0] === undefined ? [] : [`          ${head(rules[0])}`, ...places];
}
