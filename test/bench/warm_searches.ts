/** Searches of a `cordon serve` that has an index of the tree, each in turn with ripgrep as a whole process. */
import { startQuickClient, type QuickClient, type Searched } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { quantile } from "./alternate.ts";
import type { Figure } from "./print_table.ts";
import { residentMb } from "./resident.ts";

const ROUNDS = 15;

const SETTLE_MS = 50;

/** How long the index may take. */
const BUILD_MS = 5 * 60_000;

/** One search: words of ripgrep, and the tool and its input for the round. Each round's is another, though it finds the same. */
type Compared = {
  what: string;
  words: string[];
  tool: "grep_search" | "glob_search";
  input: (round: number) => object;
};

const SEARCHES: readonly Compared[] = [
  contents("literal", "EXPORT_SYMBOL_GPL"),
  contents("regex with a literal", "\\w+_init_module\\("),
  contents("literal, any case", "copyright notice", "-i"),
  contents("\\w+ heavy", "^\\w+\\s+\\w+\\s+\\w+_probe\\s*\\("),
  contents("matches nothing", "no_such_word_in_any_kernel"),
  contents("no literal", "\\w+\\s+\\w+"),
  names("names, few", "Kconfig.debug"),
  names("names, many", "*.h"),
];

/** A group around a pattern changes nothing but the pattern. */
function contents(what: string, pattern: string, ...flags: string[]): Compared {
  const input = (round: number) => ({
    pattern: `${"(?:".repeat(round)}${pattern}${")".repeat(round)}`,
    ...(flags.includes("-i") ? { "-i": true } : {}),
  });
  return { what, words: ["-l", ...flags, pattern], tool: "grep_search", input };
}

/** Nor do folders of any depth in front of a glob. */
function names(what: string, glob: string): Compared {
  const input = (round: number) => ({ pattern: `${"**/".repeat(round)}${glob}` });
  return { what, words: ["--files", "-g", glob], tool: "glob_search", input };
}

/** How many times as fast as a process of ripgrep a second search is to be (DESIGN section 7). */
const FASTER = 10;

/** A second search in a process that lasts, each in turn with ripgrep as a whole process; and what the index of that tree costs. */
export async function warmFigures(cordon: string, rg: string, tree: string): Promise<Figure[]> {
  const scratch = makeScratch();
  try {
    const client = startQuickClient({ scratch, cwd: tree, binary: cordon, patienceMs: BUILD_MS * 2 });
    const ask: Ask = (tool, input) => client.call(tool, { ...input, path: tree });
    const begun = performance.now();
    await waitForIndex(ask);
    const figures: Figure[] = [
      { what: "index of the large tree, ready after", value: (performance.now() - begun) / 1000, unit: "s" },
      { what: "memory of the serve that has it", value: residentMb(client.pid), unit: "MB" },
    ];
    for (const search of SEARCHES) figures.push(...(await compareSearch(search, { ask, rg, tree })));
    await close(client);
    return figures;
  } finally {
    removeScratch(scratch);
  }
}

type Ask = (tool: Compared["tool"], input: object) => Promise<Searched>;

async function waitForIndex(ask: Ask): Promise<void> {
  const end = performance.now() + BUILD_MS;
  for (;;) {
    const { meta } = await ask("grep_search", { pattern: "no_such_word_at_all" });
    if (meta.index?.state === "used") return;
    if (meta.index?.state === "off" || performance.now() > end) throw new Error(JSON.stringify(meta));
    // Each search makes the index wait.
    await Bun.sleep(2000);
  }
}

type Place = { ask: Ask; rg: string; tree: string };

/** Two rows: a pattern that was not asked before, and the same one again. */
async function compareSearch({ what, words, tool, input }: Compared, { ask, rg, tree }: Place): Promise<Figure[]> {
  const ours = { "new pattern": [] as number[], again: [] as number[] };
  const theirs: number[] = [];
  let looked = "";
  const timed = async (act: () => unknown): Promise<number> => {
    const begun = performance.now();
    await act();
    return performance.now() - begun;
  };
  const theirSearch = { cwd: tree, stdout: "ignore", stderr: "ignore" } as const;
  for (let round = 0; round < ROUNDS; round += 1) {
    const fresh = async () => {
      const { meta } = await ask(tool, input(round));
      looked = meta.index?.state === "used" ? `${meta.index.candidates} files looked at` : "without the index";
    };
    ours["new pattern"].push(await timed(fresh));
    // What a search came to is noted after its answer.
    await Bun.sleep(SETTLE_MS);
    ours.again.push(await timed(() => ask(tool, input(round))));
    theirs.push(await timed(() => Bun.spawnSync([rg, "--no-config", ...words, "."], theirSearch)));
  }
  const their = quantile(theirs, 0.5);
  return Object.entries(ours).map(([kind, times]) => {
    const our = quantile(times, 0.5);
    const notes = kind === "again" ? "" : ` (${looked})`;
    const shown = `warm, ${kind}: ${what}: ${our.toFixed(0)} ms, rg ${their.toFixed(0)} ms${notes}`;
    return { what: shown, value: their / our, unit: "times as fast", target: FASTER, atLeast: true };
  });
}

async function close(client: QuickClient): Promise<void> {
  await client.close();
}
