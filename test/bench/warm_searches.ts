/** Searches of a `cordon serve` that has an index of the tree, each in turn with ripgrep as a whole process. */
import { startQuickClient, type QuickClient, type Searched } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { quantile } from "./alternate.ts";
import type { Figure } from "./print_table.ts";
import { residentMb } from "./resident.ts";

const ROUNDS = 15;

/** How long the index may take. */
const BUILD_MS = 5 * 60_000;

/** Words of ripgrep, and the same as an input of grep_search. */
const SEARCHES: readonly { what: string; words: string[]; input: object }[] = [
  { what: "literal", words: ["EXPORT_SYMBOL_GPL"], input: { pattern: "EXPORT_SYMBOL_GPL" } },
  { what: "regex with a literal", words: ["\\w+_init_module\\("], input: { pattern: "\\w+_init_module\\(" } },
  { what: "literal, any case", words: ["-i", "copyright notice"], input: { pattern: "copyright notice", "-i": true } },
  {
    what: "\\w+ heavy",
    words: ["^\\w+\\s+\\w+\\s+\\w+_probe\\s*\\("],
    input: { pattern: "^\\w+\\s+\\w+\\s+\\w+_probe\\s*\\(" },
  },
  { what: "matches nothing", words: ["no_such_word_in_any_kernel"], input: { pattern: "no_such_word_in_any_kernel" } },
  { what: "no literal", words: ["\\w+\\s+\\w+"], input: { pattern: "\\w+\\s+\\w+" } },
];

/** How many times as fast as a process of ripgrep a second search is to be (DESIGN section 7). */
const FASTER = 10;

/** A second search in a process that lasts, each in turn with ripgrep as a whole process; and what the index of that tree costs. */
export async function warmFigures(cordon: string, rg: string, tree: string): Promise<Figure[]> {
  const scratch = makeScratch();
  try {
    const client = startQuickClient({ scratch, cwd: tree, binary: cordon, patienceMs: BUILD_MS * 2 });
    const ask = (input: object) => client.call("grep_search", { ...input, path: tree });
    const begun = performance.now();
    await waitForIndex(ask);
    const figures: Figure[] = [
      { what: "index of the large tree, ready after", value: (performance.now() - begun) / 1000, unit: "s" },
      { what: "memory of the serve that has it", value: residentMb(client.pid), unit: "MB" },
    ];
    for (const search of SEARCHES) figures.push(await compareSearch(search, { ask, rg, tree }));
    await close(client);
    return figures;
  } finally {
    removeScratch(scratch);
  }
}

type Ask = (input: object) => Promise<Searched>;

async function waitForIndex(ask: Ask): Promise<void> {
  const end = performance.now() + BUILD_MS;
  for (;;) {
    const { meta } = await ask({ pattern: "no_such_word_at_all" });
    if (meta.index?.state === "used") return;
    if (meta.index?.state === "off" || performance.now() > end) throw new Error(JSON.stringify(meta));
    // Each search makes the index wait.
    await Bun.sleep(2000);
  }
}

type Place = { ask: Ask; rg: string; tree: string };

async function compareSearch(
  { what, words, input }: (typeof SEARCHES)[number],
  { ask, rg, tree }: Place,
): Promise<Figure> {
  const ours: number[] = [];
  const theirs: number[] = [];
  let state = "";
  for (let round = 0; round < ROUNDS; round += 1) {
    let begun = performance.now();
    const { meta } = await ask(input);
    ours.push(performance.now() - begun);
    state = meta.index?.state === "used" ? `${meta.index.candidates} files looked at` : "without the index";
    begun = performance.now();
    Bun.spawnSync([rg, "--no-config", "-l", ...words, "."], { cwd: tree, stdout: "ignore", stderr: "ignore" });
    theirs.push(performance.now() - begun);
  }
  const [our, their] = [quantile(ours, 0.5), quantile(theirs, 0.5)];
  const shown = `warm: ${what}: ${our.toFixed(0)} ms, rg ${their.toFixed(0)} ms (${state})`;
  return { what: shown, value: their / our, unit: "times as fast", target: FASTER, atLeast: true };
}

async function close(client: QuickClient): Promise<void> {
  await client.close();
}
