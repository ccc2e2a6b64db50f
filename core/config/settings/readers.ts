import { nearestNames } from "../nearest_names.ts";
import { invalid, type Located } from "./located.ts";

/** Readers of one value each. All throw ToolFault `config.invalid` with the place, what was found and what is wanted. */

/** A text that is not empty and has no NUL. */
export function textOf(at: Located): string {
  if (typeof at.value === "string" && at.value !== "" && !at.value.includes("\0")) return at.value;
  throw wrong(at, "a text is wanted");
}

/** true or false. */
export function booleanOf(at: Located): boolean {
  if (typeof at.value === "boolean") return at.value;
  throw wrong(at, "true or false is wanted");
}

/** The items of a list. */
export function itemsOf(at: Located): Located[] {
  if (at.items) return at.items;
  throw wrong(at, "a list is wanted");
}

/** A list of texts. */
export function textsOf(at: Located): string[] {
  return itemsOf(at).map(textOf);
}

/** The members of an object. */
export function membersOf(at: Located): ReadonlyMap<string, Located & { named: string }> {
  if (at.members) return at.members;
  throw wrong(at, "an object is wanted");
}

/** One of a few words. */
export function choiceOf<Word extends string>(at: Located, words: readonly Word[]): Word {
  const word = words.find((one) => one === at.value);
  if (word !== undefined) return word;
  throw wrong(at, `one of ${words.join(", ")} is wanted`);
}

/** The fault of a value of the wrong kind. */
export function wrong(at: Located, wanted: string) {
  const shown = JSON.stringify(at.value)?.slice(0, 80) ?? "nothing";
  const name = at.key === "" ? "the file" : JSON.stringify(at.key);
  return invalid(at.origin, `${name} is ${shown}`, wanted);
}

/** What to do with each key of an object: read it, or say that it is known and not used. */
export type KeyTable = Readonly<Record<string, ((at: Located) => void) | "not used">>;

/** Reads the keys of an object by a table. `unused` hears of those that are known and do nothing. */
export function readKeys(at: Located, table: KeyTable, unused: (at: Located & { named: string }) => void): void {
  for (const [name, member] of membersOf(at)) {
    const reader = Object.hasOwn(table, name) ? table[name] : undefined;
    if (reader === undefined) throw unknownKey(member, name, Object.keys(table));
    if (reader === "not used") unused(member);
    else reader(member);
  }
}

function unknownKey(at: Located & { named: string }, name: string, known: readonly string[]) {
  const [near] = nearestNames(name, known);
  const wanted = near === undefined ? `known here: ${known.slice(0, 12).join(", ")}` : `did you mean "${near}"?`;
  return invalid(at.named, `there is no key ${JSON.stringify(at.key)}`, wanted);
}
