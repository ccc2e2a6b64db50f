import type { FlagSpec, FlagTable } from "./flags.ts";

/**
 * Spells flags out that are written as getopt and ripgrep take them: `-il` as `-i -l`, `-nC2` and `-nC 2` as `-n -C=2`, `--regexp -x` as
 * `--regexp=-x`. What is no flag of the table stays as it is. Never throws.
 */
export function spellOut<Draft>(args: readonly string[], table: FlagTable<Draft>): string[] {
  const spelt: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? "";
    if (arg === "--") return [...spelt, ...args.slice(at)];
    const flags = partsOf(arg, table);
    const last = flags.pop() ?? arg;
    // A value that is missing is the reader's to complain of.
    const next = wantsValue(last, table) ? args[at + 1] : undefined;
    if (next !== undefined) at += 1;
    spelt.push(...flags, next === undefined ? last : `${last}=${next}`);
  }
  return spelt;
}

/** The flags in one word, of which only the last can have a value. */
function partsOf<Draft>(arg: string, table: FlagTable<Draft>): string[] {
  if (!/^-[^-]./s.test(arg)) return [arg];
  const parts: string[] = [];
  for (let at = 1; at < arg.length; at += 1) {
    const letter = arg.charAt(at);
    const takes = shortFlag(letter, table)?.takes;
    const rest = arg.slice(at + 1);
    if (takes === "value" && rest !== "") return [...parts, `-${letter}=${rest.replace(/^=/, "")}`];
    if (rest.startsWith("=")) return [...parts, `-${letter}${rest}`];
    parts.push(`-${letter}`);
  }
  return parts;
}

function wantsValue<Draft>(flag: string, table: FlagTable<Draft>): boolean {
  if (!flag.startsWith("-") || flag.includes("=")) return false;
  const spec = flag.startsWith("--") ? longFlag(flag.slice(2), table) : shortFlag(flag.slice(1), table);
  return spec?.takes === "value";
}

function longFlag<Draft>(name: string, table: FlagTable<Draft>): FlagSpec<Draft> | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function shortFlag<Draft>(letter: string, table: FlagTable<Draft>): FlagSpec<Draft> | undefined {
  return Object.values(table).find(({ short }) => short === letter);
}
