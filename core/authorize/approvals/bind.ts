import type { Bound, FileMark } from "../../contract/approval.ts";
import { parseShell, type ShellItem, type ShellNode, type ShellScript, type ShellWord } from "../../engine/policy.ts";
import { findFile, findProgram, type LookUp, markFile } from "../../store/file_mark.ts";
import { BUILTINS, isInterpreter, isPowerful, recipesOf } from "./programs.ts";

/**
 * What a command runs, as it is now. `complete` false says that something of it can't be known before it runs (a variable, a
 * folder that it changes to, a program that is not there): then it can be approved once and not saved.
 */
export type Binding = { bound: Bound; complete: boolean; script?: ShellScript };

/** More than any command that a person reads. */
const MOST_FILES = 64;

/** A command of the shell with what is written in front of it. */
export type SimpleCommand = Extract<ShellNode, { type: "simple" }>;

/** Finds and marks every program and script that a command names. Never throws for a command that is not understood. */
export async function bindCommand(command: string, place: LookUp): Promise<Binding> {
  const parsed = await parseShell(command);
  const bound = { cwd: place.cwd, searchPath: place.searchPath };
  if (!parsed.ok) return { bound: { ...bound, files: [] }, complete: false };
  const { script } = parsed;
  const commands = simpleCommands(script);
  const moves = commands.some(({ words: [name] }) => ["cd", "pushd", "popd", "chdir"].includes(name?.text ?? ""));
  const parts = commands.map((simple) => bindSimple(simple, place, moves));
  const files = unique(parts.flatMap((part) => part.files));
  const complete =
    parts.every((part) => part.complete) && files.length <= MOST_FILES && !hasVariables(script, commands);
  return { bound: { ...bound, files: files.slice(0, MOST_FILES) }, complete, script };
}

type Part = { files: FileMark[]; complete: boolean };

function bindSimple({ words, assignments }: SimpleCommand, place: LookUp, moves: boolean): Part {
  const steady = assignments.every(({ name }) => words.length === 0 || !isPowerful(name));
  const [first, ...rest] = words;
  if (first === undefined) return { files: [], complete: assignments.every(({ name }) => !isPowerful(name)) };
  const name = first.text;
  if (name === undefined) return { files: [], complete: false };
  const builtin = BUILTINS.has(name);
  const runs = isInterpreter(name);
  const found = builtin ? undefined : findProgram(name, place);
  const own = found === undefined ? undefined : markFile(name, "program", found);
  const given = runs ? rest.map((word) => bindOperand(word, place)) : [];
  given.push(...recipesOf(name).map((file) => bindOperand({ span: [0, 0], text: file }, place)));
  const relative = [name, ...(runs ? rest.map((word) => word.text ?? "") : [])].some(isRelative);
  // The programs in a text of code are not looked for.
  const inline = runsText(
    name,
    rest.map(({ text }) => text ?? ""),
  );
  const complete =
    steady &&
    !inline &&
    (builtin || own !== undefined) &&
    !(moves && (relative || given.some((part) => part.files.length > 0)));
  return {
    files: [...(own ? [own] : []), ...given.flatMap((part) => part.files)],
    complete: complete && given.every((part) => part.complete),
  };
}

/** `eval`, `trap` and the option -c of shells. */
function runsText(name: string, words: readonly string[]): boolean {
  const base = name.slice(name.lastIndexOf("/") + 1);
  if (["eval", "trap", "xargs", "parallel"].includes(base)) return true;
  return (
    /^(ba|da|z|k|mk|fi|c|tc)?sh$|^su(do)?$|^busybox$/.test(base) && words.some((word) => /^-[a-zA-Z]*[cs]/.test(word))
  );
}

/** An operand of an interpreter or wrapper: a script that it runs, or a program. */
function bindOperand(word: ShellWord, place: LookUp): Part {
  if (word.text === undefined) return { files: [], complete: false };
  const script = findFile(word.text, place);
  const program = word.text.startsWith("-") || script !== undefined ? undefined : findProgram(word.text, place);
  const as = script === undefined ? "program" : "script";
  const path = script ?? program;
  const mark = path === undefined ? undefined : markFile(word.text, as, path);
  return { files: mark ? [mark] : [], complete: path === undefined || mark !== undefined };
}

function isRelative(word: string): boolean {
  return word.includes("/") && !word.startsWith("/");
}

/** Every simple command of a script, those in substitutions too. */
export function simpleCommands(script: ShellScript): SimpleCommand[] {
  const found: SimpleCommand[] = [];
  const items = (list: readonly ShellItem[]) => {
    for (const item of list) node(item.node);
  };
  const word = ({ subs = [] }: Pick<ShellWord, "subs">) => {
    for (const { body } of subs) items(body);
  };
  const node = (one: ShellNode) => {
    const inner = one.type === "pipeline" ? one.stages : one.type === "and_or" ? one.nodes : [];
    for (const each of inner) node(each);
    if (one.type === "pipeline" || one.type === "and_or") return;
    for (const each of [...one.words, ...one.redirects.map(({ target }) => target)]) word(each);
    if (one.type === "simple") {
      for (const each of one.assignments.flatMap(({ values }) => values)) word(each);
      found.push(one);
    } else for (const body of one.bodies) items(body);
  };
  items(script.items);
  for (const { subs } of script.here_docs) word(subs ? { subs } : {});
  return found;
}

/** Values of variables are no part of the words that were approved. */
function hasVariables(script: ShellScript, commands: readonly SimpleCommand[]): boolean {
  const varies = (word: ShellWord) => word.dynamic?.some((why) => why === "parameter" || why === "array") ?? false;
  const inDocs = script.here_docs.some(({ text, subs }) => text === undefined && subs === undefined);
  return (
    inDocs || commands.some(({ words, redirects }) => [...words, ...redirects.map(({ target }) => target)].some(varies))
  );
}

function unique(files: readonly FileMark[]): FileMark[] {
  const known = new Set<string>();
  return files.filter(({ word, as }) => {
    const key = `${as} ${word}`;
    return !known.has(key) && known.add(key) !== undefined;
  });
}
