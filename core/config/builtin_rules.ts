import type { RuleLists, RuleSource } from "../contract/verdict.ts";
import { SAMPLE_ENDINGS, SECRET_NAMES, SECRETS, trustPlaces } from "./protected_paths.ts";

/** Files of the system: a tool that edits one is refused in every mode but by a person's own hand (D4). */
const SYSTEM_FILES = ["//bin", "//boot", "//dev", "//etc", "//lib", "//lib64", "//proc", "//sbin", "//sys", "//usr"];

/** Start-up files of shells: whatever stands there runs at the next login. */
const START_UP_FILES = [
  "~/.bashrc",
  "~/.bash_profile",
  "~/.profile",
  "~/.zshrc",
  "~/.zprofile",
  "~/.zshenv",
  "~/.config/fish",
  "~/.gitconfig",
  "~/.config/git",
  "~/.config/autostart",
  "~/.config/systemd",
];

/** What git obeys, below the workspace. */
const GIT_FILES = [".git/hooks", ".git/config", ".git/config.worktree", ".git/info/attributes"];

/**
 * What of the weakest layer is the same for everybody: the same tables that the sandbox hides and protects by, as rules for tools. Reading
 * a secret asks, writing one is denied; host-trust files ask. The policy component has these compiled from its build on (wasm/parts).
 */
export const FIXED_RULES: RuleLists = fixedRules();

function fixedRules(): RuleLists {
  const named = (tool: "Read" | "Edit") => SECRET_NAMES.map((name) => namedSecret(tool, name));
  const secrets = SECRETS.map(({ path }) => pathSpec(path));
  return {
    allow: [],
    ask: [
      ...secrets.map((path) => builtIn(`Read(${path})`)),
      ...named("Read"),
      ...[...GIT_FILES, ...trustPlaces().map(({ path }) => path)].map((path) => builtIn(`Edit(/${path})`)),
    ],
    deny: [
      ...[...secrets, ...SYSTEM_FILES, ...START_UP_FILES].map((path) => builtIn(`Edit(${path})`)),
      ...named("Edit"),
    ],
  };
}

/**
 * The rest of it: cordon's own state is closed to writing, since who could change the launcher or the remembered facts of the machine
 * there could weaken the next sandbox. So is the folder of the person's settings, wherever it is.
 */
export function ownFolderRules(stateFolder: string, configFolder?: string): RuleLists {
  const folders = configFolder === undefined ? [stateFolder] : [stateFolder, configFolder];
  return {
    allow: [],
    // The output of background tasks lies in the state folder too, and is there to be read.
    ask: [builtIn(`Read(${pathSpec(`${stateFolder}/audit.jsonl`)})`)],
    deny: folders.map((folder) => builtIn(`Edit(${pathSpec(folder)})`)),
  };
}

/** The whole weakest layer. */
export function builtinRules(stateFolder: string, configFolder?: string): RuleLists {
  return addRules(FIXED_RULES, ownFolderRules(stateFolder, configFolder));
}

/** What lists have beyond FIXED_RULES, where they begin with those; else undefined. */
export function beyondFixed({ allow, ask, deny }: RuleLists): RuleLists | undefined {
  const begins = (list: readonly RuleSource[], fixed: readonly RuleSource[]) =>
    fixed.every((rule, place) => list[place] === rule);
  if (!begins(ask, FIXED_RULES.ask) || !begins(deny, FIXED_RULES.deny)) return undefined;
  return { allow, ask: ask.slice(FIXED_RULES.ask.length), deny: deny.slice(FIXED_RULES.deny.length) };
}

function builtIn(rule: string): RuleSource {
  return { rule, layer: "built-in", origin: "built-in" };
}

/** A rule on a name at any depth, with the samples among the names carved out. */
function namedSecret(tool: "Read" | "Edit", name: string): RuleSource {
  const rule = builtIn(`${tool}(${name})`);
  if (!name.endsWith("*")) return rule;
  const samples = SAMPLE_ENDINGS.flatMap((ending) => [name.replace(/\*$/, ending), `${name}.${ending}`]);
  return { ...rule, except: samples.map((sample) => `${tool}(${sample})`) };
}

/** Rules write an absolute path with two slashes. */
function pathSpec(path: string): string {
  return path.startsWith("/") ? `/${path}` : path;
}

/** Adds the layers up, weakest first. */
export function addRules(...layers: RuleLists[]): RuleLists {
  return {
    allow: layers.flatMap(({ allow }) => allow),
    ask: layers.flatMap(({ ask }) => ask),
    deny: layers.flatMap(({ deny }) => deny),
  };
}
