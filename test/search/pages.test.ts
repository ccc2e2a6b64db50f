/** A5: matching lines that are more than one answer holds, on the executable: `cordon grep` shows them all, and memory is not theirs. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startQuickClient } from "../support/quick_client.ts";
import { cordonPath, runCordon, scratchEnvironment } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { ripgrep } from "./ripgrep.ts";

const FOLDERS = 60;
const LINES = 5000;

if ("missing" in ripgrep) console.info(`Skipped: the comparison with ripgrep, because ${ripgrep.missing}`);

let scratch: Scratch;
let tree: string;
beforeAll(() => {
  scratch = makeScratch();
  tree = join(scratch.work, "tree");
  for (let at = 0; at < FOLDERS; at += 1) {
    mkdirSync(join(tree, `part${at}`), { recursive: true });
    const lines = Array.from({ length: LINES }, (_, line) => `needle ${line} ${"-".repeat(line % 60)}\nhay\n`);
    writeFileSync(join(tree, `part${at}`, "f"), lines.join(""));
  }
  writeFileSync(join(tree, "z.txt"), `${"a needle, and another needle\n".repeat(500_000)}`);
});
afterAll(() => removeScratch(scratch));

for (const flags of [["-n"], ["--heading", "-n"], ["-C1"], ["-o"], ["--heading", "-A1", "--color=always"]]) {
  test.skipIf("missing" in ripgrep)(
    `A5 cordon grep ${flags.join(" ")} shows all lines of several answers, as rg does`,
    async () => {
      const { code, stdout, stderr } = await runCordon(["grep", ...flags, "needle"], { scratch, cwd: tree });
      const args = ["--no-config", "--sort=path", ...flags.map((flag) => flag.replace("=always", "=never")), "needle"];
      const theirs = Bun.spawnSync(["path" in ripgrep ? ripgrep.path : "", ...args], {
        cwd: tree,
        stdin: "ignore",
      }).stdout.toString();
      const ours = Bun.stripANSI(stdout);
      expect({ code, stderr, length: ours.length, same: ours === theirs }).toEqual({
        code: 0,
        stderr: "",
        length: theirs.length,
        same: true,
      });
    },
    120_000,
  );
}

test("A5 a reader who has seen enough ends it: no other answer is asked for, and else all are", async () => {
  const calls = async (more: string) => {
    const around = makeScratch();
    try {
      const shell = ["sh", "-c", `"$0" grep -n needle ${more}`, cordonPath()];
      const child = Bun.spawn(shell, { cwd: tree, env: scratchEnvironment(around), stdin: "ignore", stdout: "pipe" });
      const lines = (await new Response(child.stdout).text()).split("\n").length - 1;
      expect(await child.exited).toBe(0);
      const rows = readFileSync(join(around.state, "audit.jsonl"), "utf8").split("\n");
      return { lines, calls: rows.filter((row) => row.includes('"result"')).length };
    } finally {
      removeScratch(around);
    }
  };
  expect(await calls("| head -n 1")).toEqual({ lines: 1, calls: 1 });
  const all = await calls("");
  expect(all.lines).toBe(FOLDERS * LINES + 500_000);
  expect(all.calls).toBeGreaterThan(3);
});

test("A5 grep_search of a server says where the next lines are, with an index and without", async () => {
  for (const memory of ["64M", "0"]) {
    const client = startQuickClient({ scratch, cwd: tree }, ["--search-memory", memory]);
    let [part, lines, pages]: [object | undefined, number, number] = [{}, 0, 0];
    const input = { pattern: "needle", output_mode: "content", head_limit: 0 };
    let last: string | undefined;
    while (part !== undefined && pages < 100) {
      const { output } = await client.call("grep_search", { ...input, ...part });
      lines += output?.numLines ?? 0;
      last = output?.content?.split("\n").at(-1) || last;
      part = output?.next;
      pages += 1;
    }
    expect({ lines, last }).toEqual({
      lines: FOLDERS * LINES + 500_000,
      last: `${join(tree, "z.txt")}:500000:a needle, and another needle`,
    });
    expect(pages).toBeGreaterThan(3);
    // What the pages said of the files is no outcome of the search.
    const names = await client.call("grep_search", { pattern: "needle", head_limit: 0 });
    expect(names.output?.totalFiles).toBe(FOLDERS + 1);
    await client.close();
  }
}, 120_000);
