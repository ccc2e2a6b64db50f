/** What `cordon grep --files`, `-l` and `cordon glob` write is what rg writes, byte for byte: names stay what they are, whatever stands in them. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";
import { ripgrep } from "./ripgrep.ts";

/** Names as bytes, one character each: not all are UTF-8, and one has a line end in it if the test wants that. */
const NAMES = ["a.c", "b/f.ts", "b/\xff.ts", "b/c/\xc3\xa9.ts", "b-/f.ts", "b.c", "top.ts"];

function makeTree(names: readonly string[]): { root: string; [Symbol.dispose](): void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "cordon-names-")));
  const at = (name: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name, "latin1")]);
  for (const name of names) {
    mkdirSync(at(name.replace(/[^/]*$/, "")), { recursive: true });
    writeFileSync(at(name), "needle\n");
  }
  return { root, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

async function ours(args: string[], cwd: string): Promise<{ text: string; code: number | null }> {
  const scratch = makeScratch();
  const { bytes, code } = await runCordon(args, { scratch, cwd });
  removeScratch(scratch);
  return { text: Buffer.from(bytes).toString("latin1"), code };
}

function theirs(args: string[], cwd: string): { text: string; code: number | null } {
  const argv = ["path" in ripgrep ? ripgrep.path : "rg", "--no-config", "--sort=path", ...args];
  const { stdout, exitCode } = Bun.spawnSync(argv, { cwd, stdin: "ignore", stderr: "ignore" });
  return { text: stdout.toString("latin1"), code: exitCode };
}

describe.skipIf("missing" in ripgrep)("A11 D7 lists of names", () => {
  test("of --files and -l are those of rg, wherever they start and however that is written", async () => {
    for (const names of [NAMES, [...NAMES, "b/two\nlines.ts"]]) {
      using tree = makeTree(names);
      for (const flags of [["--files"], ["--files", "-0"], ["-l0", "needle"]]) {
        for (const [from, ...places] of [
          [""],
          ["", "."],
          ["", "b"],
          ["", "./b/"],
          ["b", ".."],
          ["", "b", "b-"],
          ["", "b/f.ts"],
          ["", "./b/f.ts", "b", "top.ts"],
          ["b", "../a.c", "f.ts"],
        ]) {
          const cwd = join(tree.root, from ?? "");
          // rg would read its input where no place is named.
          const asked = flags[0] === "--files" ? places : places.length > 0 ? places : ["./"];
          expect({ flags, from, places, ...(await ours(["grep", ...flags, ...asked], cwd)) }).toEqual({
            flags,
            from,
            places,
            ...theirs([...flags, ...asked], cwd),
          });
        }
      }
    }
  }, 120_000);

  test("of glob are relative to the working folder, and have the NUL bytes that were asked for", async () => {
    using tree = makeTree([...NAMES, "b/two\nlines.ts"]);
    const inB = "b/c/\xc3\xa9.ts\0b/f.ts\0b/two\nlines.ts\0b/\xff.ts\0";
    expect(await ours(["glob", "-0", "*.ts", "b"], tree.root)).toEqual({ text: inB, code: 0 });
    expect(await ours(["glob", "*.ts", "b"], tree.root)).toEqual({ text: inB.replaceAll("\0", "\n"), code: 0 });
    const above = await ours(["glob", "-0", "*.ts", ".."], join(tree.root, "b"));
    expect(above.text.split("\0")).toContain("f.ts");
    expect(above.text.split("\0")).toContain(`${tree.root}/b-/f.ts`);
  });
});
