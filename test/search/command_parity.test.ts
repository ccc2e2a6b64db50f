/**
 * `cordon grep` and rg with the same flags over generated trees: the same bytes on stdout, but for what ADR 14 lists, and the same exit
 * code. CORDON_SEARCH_COMMANDS says how many (default 48), CORDON_SEARCH_SEED which.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { makeOddTree, oddTree, type OddTree } from "./odd_tree.ts";
import { ripgrep } from "./ripgrep.ts";
import { firstDifference } from "./first_difference.ts";

const CASES = Number(process.env.CORDON_SEARCH_COMMANDS ?? 48);
const SEED = Number(process.env.CORDON_SEARCH_SEED ?? 20_261_123);
const LINES_A_TREE = 8;
const SHOWN_FAULTS = 6;
const PATTERNS = [
  "foo",
  "let",
  "a",
  "fo+",
  "^x",
  "b$",
  "é",
  "k|K",
  "\\w+ \\w+",
  "o\\b",
  "[a-f]+",
  "x*",
  "a.b",
  "-2",
  "}",
];

/** Flags of which some are given together; each stands for itself, so that any mixture makes sense. */
const FLAGS = [
  ["-n"],
  ["-N"],
  ["-i"],
  ["-S"],
  ["-s"],
  ["-w"],
  ["-x"],
  ["-F"],
  ["-v"],
  ["-o"],
  ["-U"],
  ["-U", "--multiline-dotall"],
  ["-c"],
  ["-l"],
  ["--count-matches"],
  ["--files-without-match"],
  ["-A2"],
  ["-B", "1"],
  ["-C1"],
  ["-nC2"],
  ["-in"],
  ["-m1"],
  ["--max-count=2"],
  ["-g", "*.ts"],
  ["-g!*.ts"],
  ["-g", "*.{log,md}", "-g", "!a*"],
  ["--iglob=*.TS"],
  ["-tmd"],
  ["-T", "ts"],
  ["--hidden"],
  ["-u"],
  ["-uu"],
  ["--no-ignore-vcs"],
  ["--no-ignore-dot"],
  ["-H"],
  ["-I"],
  ["-0"],
  ["--column"],
  ["--vimgrep"],
  ["--heading"],
  ["--color=never"],
  ["-q"],
  ["-e", "bar"],
  ["-e-2"],
];

const commandLine = fc.record({
  pattern: fc.constantFrom(...PATTERNS),
  flags: fc.array(fc.constantFrom(...FLAGS), { maxLength: 4 }).map((several) => several.flat()),
  places: fc.array(fc.nat(8), { maxLength: 2 }),
  dotted: fc.boolean(),
});

type Line = typeof commandLine extends fc.Arbitrary<infer Value> ? Value : never;

/** Flags with which the output of rg is not ours, on purpose; the reasons stand in ADR 14. */
function isDifferent(flags: readonly string[]): boolean {
  const has = (...names: string[]) => names.some((name) => flags.includes(name));
  const inverted = has("-v");
  const limited = has("-m1", "--max-count=2");
  const context = has("-A2", "-B", "-C1", "-nC2");
  return (
    // Binary files are never searched: this is refused.
    flags
      .filter((flag) => flag.startsWith("-u"))
      .join("")
      .replaceAll("-", "").length > 2 ||
    (has("-U") && (limited || has("-o", "--column", "--vimgrep"))) ||
    // rg counts what matches in the context after the last line that was wanted.
    (context && limited && has("-c", "--count-matches")) ||
    (inverted && (has("-o", "--column", "--vimgrep") || limited)) ||
    // Where each match has a line of its own, rg numbers context by the line and says no column.
    (context && has("-o", "--vimgrep"))
  );
}

function run(args: string[], tree: OddTree): { bytes: Buffer; code: number | null } {
  const program = "path" in ripgrep ? ripgrep.path : "rg";
  const env = { HOME: tree.home, PATH: "/usr/bin:/bin", GIT_CONFIG_SYSTEM: "/nonexistent" };
  const { stdout, exitCode } = Bun.spawnSync([program, ...args], {
    cwd: tree.root,
    env,
    stdin: "ignore",
    stderr: "ignore",
  });
  return { bytes: stdout, code: exitCode };
}

/** With what is no UTF-8 replaced: so it is shown here. */
function decoded(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Of rg's output: without the return of `\r\n` and the remark of a NUL byte. */
function plain(bytes: Uint8Array): string {
  return decoded(bytes)
    .replaceAll("\r\n", "\n")
    .replace(/^.*: WARNING: stopped searching binary file after match .*\n/gm, "");
}

test.skipIf("missing" in ripgrep)(
  "D7 A5 cordon grep prints what rg prints with the same flags, and ends as it ends",
  async () => {
    const scratch = makeScratch();
    const trees = fc.sample(oddTree, { numRuns: Math.ceil(CASES / LINES_A_TREE), seed: SEED });
    const lines = fc.sample(commandLine, { numRuns: CASES, seed: SEED });
    const faults: object[] = [];
    for (const [number, plan] of trees.entries()) {
      // A file that holds a NUL byte late is searched as far as rg's buffer happens to reach, and not at all when it is named.
      const files = plan.files.filter(
        ({ content }) => !content.includes(0) || content[0] === 0xff || content[0] === 0xfe,
      );
      using tree = makeOddTree({ ...plan, files });
      for (const line of lines.slice(number * LINES_A_TREE, (number + 1) * LINES_A_TREE)) {
        if (isDifferent(line.flags)) continue;
        const words = wordsOf(line, tree);
        const theirs = run(["--no-config", "--sort=path", "--crlf", "-g!.git", ...words], tree);
        const env = { HOME: tree.home, GIT_CONFIG_SYSTEM: "/nonexistent" };
        const ours = await runCordon(["grep", ...words], { scratch, cwd: tree.root, env });
        const [output, expected] = [decoded(ours.bytes), plain(theirs.bytes)];
        if (output === expected && ours.code === theirs.code) continue;
        faults.push({
          tree: number,
          words,
          ...firstDifference(output, expected),
          codes: [ours.code, theirs.code],
          stderr: ours.stderr,
        });
      }
    }
    removeScratch(scratch);
    expect(faults.slice(0, SHOWN_FAULTS)).toEqual([]);
  },
  3_600_000,
);

/** The command line without the program. rg would read standard input where no place is named. */
function wordsOf({ pattern, flags, places, dotted }: Line, tree: OddTree): string[] {
  const folders = places.map((place) => tree.folders[place % tree.folders.length] ?? "");
  const named = folders.map((folder) => (folder === "" ? "." : dotted ? `./${folder}/` : folder));
  const isGiven = flags.some((flag) => flag.startsWith("-e"));
  return [...flags, ...(isGiven ? [] : ["-e", pattern]), "--", ...(named.length > 0 ? named : ["./"])];
}
