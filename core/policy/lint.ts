import { dirname, join } from "node:path";
import { kindSync } from "../config/look.ts";
import { isWithin } from "../config/path_order.ts";
import { NO_RULES, type RuleLists, type RuleSource, type Verdict } from "../contract/verdict.ts";
import type { Settings } from "../contract/settings.ts";
import { compilePolicy } from "../engine/policy.ts";
import { partsOf, sampleOf, type SamplePlace } from "./samples.ts";
import type { RuleSets } from "./rule_sets.ts";

/** Something that a person should know of their settings. `code` is stable. Errors stop a start, warnings do not do what they say. */
export type Finding = {
  level: "error" | "warning" | "note";
  code: string;
  origin: string;
  message: string;
  hint?: string;
};

/** What is looked at: the rules of files, and what the files say that does not hold. */
export type Linted = { settings: Settings; builtIn: RuleLists; place: SamplePlace; sets: RuleSets };

/** Beyond this many rules they are not compared with each other, which takes the square of their number. */
const MOST_COMPARED = 150;

const LISTS = ["allow", "ask", "deny"] as const;

type Listed = { list: (typeof LISTS)[number]; rule: RuleSource };

/** Everything worth saying, errors first. */
export async function lintSettings(linted: Linted): Promise<Finding[]> {
  const { settings, builtIn } = linted;
  const rules = LISTS.flatMap((list) => settings.rules[list].map((rule): Listed => ({ list, rule })));
  const compiled = await compilePolicy(settings.rules);
  const bad = compiled.ok
    ? []
    : compiled.faults.map(({ rule, origin, why }): Finding => {
        return {
          level: "error",
          code: "rule.unusable",
          origin,
          message: `${JSON.stringify(rule)} can't be used: ${why}`,
        };
      });
  const usable = rules.filter(({ rule }) => !bad.some(({ origin }) => origin === rule.origin));
  const written = usable.filter(({ rule }) => !rule.reason?.startsWith("sandbox."));
  const each = await Promise.all(written.map((one) => ruleFindings(one, linted)));
  const compared = written.length > MOST_COMPARED ? [] : await compare(written, linted);
  const above = settings.files.some(({ layer, state }) => layer === "project" && state !== "absent")
    ? []
    : foldersAbove(linted.place);
  const found = [
    ...above,
    ...bad,
    ...noticeFindings(settings),
    ...each.flat(),
    ...compared,
    ...managedFindings(settings, builtIn),
  ];
  const order = { error: 0, warning: 1, note: 2 } as const;
  return found.sort((a, b) => order[a.level] - order[b.level]);
}

function noticeFindings({ notices }: Settings): Finding[] {
  return notices.map(({ kind, about, origin, text }): Finding => {
    if (kind === "untrusted")
      return { level: "note", code: "trust.waiting", origin, message: text, hint: "cordon policy trust" };
    if (kind === "held") return { level: "warning", code: "layers.contradict", origin, message: text };
    if (kind === "bound") return { level: "warning", code: "rule.bound", origin, message: text };
    return { level: about === "hooks" ? "warning" : "note", code: "key.not_used", origin, message: text };
  });
}

/** A file that closes what no rule of it can open again says so once. */
function managedFindings({ managedOnly, rules }: Settings, builtIn: RuleLists): Finding[] {
  if (!managedOnly || rules.allow.length + builtIn.allow.length > 0) return [];
  return [
    {
      level: "note",
      code: "layers.closed",
      origin: "managed",
      message: "only the managed file may allow, and it allows nothing",
    },
  ];
}

/** The project is the folder that cordon starts in; whoever starts below it would think that its file holds. */
function foldersAbove({ workspace, home }: SamplePlace): Finding[] {
  for (let at = dirname(workspace); at !== dirname(at) && at !== home; at = dirname(at)) {
    const path = join(at, ".cordon", "config.json");
    if (!isFile(path)) continue;
    const message = "this file stands above the folder that cordon starts in, and is not in force here";
    return [{ level: "warning", code: "file.above", origin: path, message, hint: `start in ${at}` }];
  }
  return [];
}

function isFile(path: string): boolean {
  try {
    return kindSync(path)?.isFile() === true;
  } catch {
    return false;
  }
}

async function ruleFindings({ list, rule }: Listed, linted: Linted): Promise<Finding[]> {
  const broad = list === "allow" ? tooBroad(rule, linted.place) : [];
  const carve = rule.except?.length ? await carveFindings(rule, list, linted) : [];
  return [...broad, ...carve];
}

/** Programs that run what they are told, so that a rule on them is a rule on everything. */
const RUNNERS: readonly string[] =
  `bash sh dash zsh ksh fish csh tcsh pwsh powershell cmd python python2 python3 node deno bun ruby perl php lua Rscript R osascript java
  env sudo doas su xargs timeout nice nohup setsid watch time exec eval command ssh docker podman kubectl make npx bunx uvx pipx awk gawk find tee dd`
    .trim()
    .split(/\s+/);

function tooBroad(rule: RuleSource, { home, workspace }: SamplePlace): Finding[] {
  const parts = partsOf(rule.rule);
  if (parts === undefined) return [];
  const tool = parts.tool.toLowerCase();
  const { spec } = parts;
  const say = (message: string, hint: string): Finding[] => [
    {
      level: "warning",
      code: "rule.too_broad",
      origin: rule.origin,
      message: `${JSON.stringify(rule.rule)} ${message}`,
      hint,
    },
  ];
  if (tool === "bash" || tool === "shell") {
    if (spec === undefined) return say("allows every command", "name the programs that are wanted");
    const [first = ""] = spec.replace(/:\*$/, " *").split(/\s/);
    const open = spec.endsWith("*") && spec.replace(/:\*$/, " *").trim().split(/\s+/).length === 2;
    const program = first.slice(first.lastIndexOf("/") + 1);
    if (open && RUNNERS.includes(program))
      return say(`allows whatever ${program} can be told to run`, "name the script or subcommand too");
    return first === "*" ? say("allows every command", "name the programs that are wanted") : [];
  }
  const writes = ["edit", "write", "edit_file", "write_file"].includes(tool);
  const reads = ["read", "read_file"].includes(tool);
  if (!(writes || reads)) return [];
  const wide = spec === undefined || ["//", "//**", "//*", "~", "~/", "~/**", "~/*", "**", "*"].includes(spec);
  const inHome = isWithin(workspace, home);
  if (wide && (writes || spec === undefined || spec.startsWith("//") || (inHome && spec.startsWith("~"))))
    return say(
      `allows ${writes ? "writing" : "reading"} far beyond the workspace`,
      "name the folder that is wanted, for example ./src/**",
    );
  return [];
}

async function carveFindings(rule: RuleSource, list: Listed["list"], { place, sets }: Linted): Promise<Finding[]> {
  const { except = [], ...plain } = rule;
  const verdictOf = async (one: RuleSource, text: string): Promise<Verdict | undefined> => {
    const question = sampleOf(text, place);
    return question && (await sets.judgeFor({ ...NO_RULES, [list]: [one] }))(question).verdict;
  };
  const wanted: Verdict = list === "ask" ? "ask" : "deny";
  const found: Finding[] = [];
  for (const text of except) {
    const before = await verdictOf(plain, text);
    if (before !== undefined && before !== wanted)
      found.push(carve("warning", rule, `carves out ${JSON.stringify(text)}, which it does not match`));
  }
  const whole = await verdictOf(plain, rule.rule);
  const left = await verdictOf(rule, rule.rule);
  if (whole === wanted && left !== wanted)
    found.push(carve("error", rule, "carves out all that it matches: the exception is as wide as the rule"));
  return found;
}

function carve(level: Finding["level"], rule: RuleSource, what: string): Finding {
  return { level, code: "rule.carve_out", origin: rule.origin, message: `${JSON.stringify(rule.rule)} ${what}` };
}

/** Rules that stronger ones leave nothing of, and rules that others of their list hold anyway. */
async function compare(rules: readonly Listed[], { place, sets }: Linted): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [at, { list, rule }] of rules.entries()) {
    const question = sampleOf(rule.rule, place);
    if (question === undefined) continue;
    const alone = (await sets.judgeFor({ ...NO_RULES, [list]: [rule] }))(question);
    if (list === "allow" && alone.verdict !== "allow") {
      const why = alone.trace.find((step) => step.why)?.why ?? alone.reason;
      found.push(neverMatches(rule, why));
      continue;
    }
    for (const [other, { list: otherList, rule: stronger }] of rules.entries()) {
      if (other === at || (list === otherList && rule.rule === stronger.rule && other > at)) continue;
      const isStronger = LISTS.indexOf(otherList) > LISTS.indexOf(list);
      if (!isStronger && otherList !== list) continue;
      const judged = (await sets.judgeFor({ ...NO_RULES, [otherList]: [stronger] }))(question);
      if (judged.verdict !== otherList || judged.by !== "rule") continue;
      found.push(isStronger ? overruled(rule, stronger, otherList) : covered(rule, stronger));
      break;
    }
  }
  return found;
}

function neverMatches(rule: RuleSource, why: string): Finding {
  const message = `${JSON.stringify(rule.rule)} allows nothing: a plain call of its form is not allowed by it: ${why}`;
  return { level: "warning", code: "rule.never_matches", origin: rule.origin, message };
}

function overruled(rule: RuleSource, stronger: RuleSource, list: string): Finding {
  const code = rule.layer === stronger.layer ? "rule.shadowed" : "layers.contradict";
  const message = `${JSON.stringify(rule.rule)} (${rule.layer}) has no effect: the ${list} rule ${JSON.stringify(stronger.rule)} (${stronger.layer}, ${stronger.origin}) holds for the same calls`;
  return { level: "warning", code, origin: rule.origin, message };
}

function covered(rule: RuleSource, wider: RuleSource): Finding {
  const message = `${JSON.stringify(rule.rule)} adds nothing to ${JSON.stringify(wider.rule)} (${wider.layer}, ${wider.origin})`;
  return { level: "note", code: "rule.covered", origin: rule.origin, message };
}
