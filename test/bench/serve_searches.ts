/** Searches of a `cordon serve` that remembers nothing of trees, each in turn with ripgrep as a process: how an agent calls them. */
import { type QuickClient, startQuickClient } from "../support/quick_client.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { quantile } from "./alternate.ts";
import type { Figure } from "./print_table.ts";

const ROUNDS = 25;

/** The first call brings the search up and has a row of its own; code that the next two compile is not what all others wait for. */
const WARM_UP = 3;

/** Before the first call, as a client has that starts a server and then asks a model. */
const THINKING_MS = 1000;

/** A pause as an agent makes, in which what a call has left behind is cleaned up. */
const PAUSE_MS = 15;

const PATIENCE_MS = 10 * 60_000;

/** One tree and what is looked for in it. `names` is a glob for `glob_search`, `text` a pattern for `grep_search`; `flags` are the server's. */
export type ServedTree = { what: string; path: string; target: number; flags?: readonly string[] } & (
  | { text: string }
  | { names: string }
);

/** For each tree the ratio to ripgrep's process, the median over the rounds, and what the first call of a server takes. */
export async function serveFigures(cordon: string, rg: string, trees: readonly ServedTree[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const tree of trees) {
    process.stderr.write(`  in serve without index: ${tree.what} …\n`);
    figures.push(...(await figuresOf(cordon, rg, tree)));
  }
  return figures;
}

async function figuresOf(cordon: string, rg: string, tree: ServedTree): Promise<Figure[]> {
  const scratch = makeScratch();
  try {
    const around = { scratch, cwd: tree.path, binary: cordon, patienceMs: PATIENCE_MS };
    const client = startQuickClient(around, ["--search-memory", "0", ...(tree.flags ?? [])]);
    await Bun.sleep(THINKING_MS);
    const rounds: { our: number; their: number }[] = [];
    for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
      const ours = () => timed(() => search(client, tree));
      const theirs = () => timed(() => runRipgrep(rg, tree));
      // Who goes second finds warmer caches.
      const [first, second] = round % 2 === 0 ? [await ours(), await theirs()] : [await theirs(), await ours()];
      rounds.push(round % 2 === 0 ? { our: first, their: second } : { our: second, their: first });
      await Bun.sleep(PAUSE_MS);
    }
    await client.close();
    const [start] = rounds;
    const later = rounds.slice(WARM_UP);
    const ratio = quantile(
      later.map(({ our, their }) => our / their),
      0.5,
    );
    const our = quantile(
      later.map((times) => times.our),
      0.5,
    ).toFixed(1);
    const their = quantile(
      later.map((times) => times.their),
      0.5,
    ).toFixed(1);
    const what = `in serve without index: ${tree.what}`;
    return [
      { what: `${what}: ${our} ms, rg ${their} ms`, value: ratio, unit: "× rg", target: tree.target },
      { what: `${what}, the first call`, value: start?.our ?? Number.NaN, unit: "ms" },
    ];
  } finally {
    removeScratch(scratch);
  }
}

async function search(client: QuickClient, tree: ServedTree): Promise<void> {
  const answer =
    "text" in tree
      ? await client.call("grep_search", { pattern: tree.text, path: tree.path })
      : await client.call("glob_search", { pattern: tree.names, path: tree.path });
  if (!answer.ok) throw new Error(JSON.stringify(answer.error));
}

async function runRipgrep(rg: string, tree: ServedTree): Promise<void> {
  const words = "text" in tree ? ["-l", tree.text] : ["--files", "-g", tree.names];
  Bun.spawnSync([rg, "--no-config", ...words, "."], { cwd: tree.path, stdout: "ignore", stderr: "ignore" });
}

async function timed(act: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await act();
  return performance.now() - begun;
}
