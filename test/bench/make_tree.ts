/** A tree of source-like text to search: the same bytes on every machine, so that two runs can be compared. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Numbers of the tree. `needles` is the number of lines that hold the word NEEDLE. */
export const TREE = { folders: 160, filesEach: 25, linesEach: 120, needleEvery: 97, version: 1 } as const;

/** The word that few lines hold. */
export const NEEDLE = "quicksilver_lantern";

const WORDS =
  "const return value index buffer handle socket parse render tree node token stream flush error path".split(" ");

/** Makes the tree below `parent` unless it is there. Returns its path; 4,000 files of about 5 KB. */
export function makeTree(parent: string): string {
  const root = join(parent, `tree-${TREE.version}`);
  const complete = join(parent, `tree-${TREE.version}.complete`);
  if (existsSync(complete)) return root;
  const next = randomNumbers(20_260_101);
  let file = 0;
  for (let folder = 0; folder < TREE.folders; folder += 1) {
    const path = join(root, `area${folder % 8}`, `part${folder}`);
    mkdirSync(path, { recursive: true });
    for (let index = 0; index < TREE.filesEach; index += 1) {
      file += 1;
      writeFileSync(
        join(path, `file${index}.${index % 3 === 0 ? "md" : "ts"}`),
        makeText(next, file % TREE.needleEvery === 0),
      );
    }
  }
  writeFileSync(complete, "");
  return root;
}

function makeText(next: () => number, withNeedle: boolean): string {
  const lines = Array.from({ length: TREE.linesEach }, () => {
    const words = Array.from({ length: 6 }, () => WORDS[next() % WORDS.length]);
    return `  ${words.join(" ")};`;
  });
  if (withNeedle) lines[TREE.linesEach / 2] = `  return ${NEEDLE}(value);`;
  return `${lines.join("\n")}\n`;
}

/** A linear congruential generator (Numerical Recipes' constants): any fixed sequence does. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 8;
  };
}
