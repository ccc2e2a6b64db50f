import { statSync } from "node:fs";
import { type RuleText, ruleTextsAbove, ruleTextsIn } from "../folder_numbers.ts";
import { shownPath } from "../real_path.ts";
import { TYPE } from "./entries.ts";
import { type Folder, nameAt, typeAt } from "./folder.ts";
import type { TreeState } from "./tree_state.ts";

/**
 * All that decides in a tree which rules hold, as one text: the same text, the same rules. An ignore file with a signature is the same as long as the
 * signature is; what no event tells of is read: links, and what is in `.git` or above the tree.
 */
export function ruleFacts(state: TreeState, top: string): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const text of ruleTextsAbove(top)) hash.update(factsOf(text));
  for (const folder of state.folders.values()) {
    for (const place of folder.standing) hash.update(factsAt(state, folder, place));
  }
  return hash.digest("base64");
}

function factsAt(state: TreeState, folder: Folder, place: number): string {
  const name = nameAt(folder, place);
  const number = folder.numbers[place] ?? -1;
  const head = `${folder.key}/${name} ${number} ${number < 0 ? "" : state.stamps[number]}\0`;
  // What `.git` leads to is elsewhere.
  if (number >= 0 && name !== ".git") return head;
  const texts = ruleTextsIn(folder.path, name, typeAt(folder, place) === TYPE.folder ? "folder" : "other");
  return `${head}${texts.map(factsOf).join("")}`;
}

/** The times too: a text that was another one for a moment is not the same. */
function factsOf({ path, text }: RuleText): string {
  if (text === undefined) return `${shownPath(path)}\0`;
  const { ino, ctimeMs, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return `${shownPath(path)} ${ino} ${ctimeMs} ${mtimeMs} ${text.length}\0${text.toString("latin1")}\0`;
}
