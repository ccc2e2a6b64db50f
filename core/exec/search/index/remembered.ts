/** What is kept of earlier searches of one tree, at most: a few dozen with tens of thousands of matching files, or thousands with few. */
const MOST_BYTES = 16 << 20;

/** Searches in which nothing matched take little each: so many are kept. */
const MOST_OUTCOMES = 2000;

/** About what one search costs beside its ends: two digests, two objects, the entry of the map. */
const EACH_BYTES = 1000;

/**
 * What a search came to, file by file: `ends` has the number of a signature and what `grep.visit` said of the file, for all files of which
 * there was something to say. It holds for files with a signature that is not younger than `clock`, while `rules` are what they were.
 */
export type Outcome = { readonly rules: string; readonly clock: number; readonly ends: Int32Array };

/** The outcomes of the searches of one tree that were asked last. */
export class Remembered {
  readonly #outcomes = new Map<string, Outcome>();
  /** Bytes that they take. */
  bytes = 0;

  /** What the same search came to, if all rules are the same. */
  find(key: string, rules: string): Outcome | undefined {
    const found = this.#outcomes.get(key);
    if (found === undefined) return undefined;
    this.#drop(key, found);
    if (found.rules !== rules) return undefined;
    this.#keep(key, found);
    return found;
  }

  /** Keeps an outcome in place of an earlier one; those that were not asked for the longest time go. */
  keep(key: string, outcome: Outcome): void {
    const before = this.#outcomes.get(key);
    if (before !== undefined) this.#drop(key, before);
    this.#keep(key, outcome);
    for (const [oldest, old] of this.#outcomes) {
      if (this.bytes <= MOST_BYTES && this.#outcomes.size <= MOST_OUTCOMES) return;
      this.#drop(oldest, old);
    }
  }

  /** Forgets all. False if there was nothing. */
  clear(): boolean {
    const had = this.#outcomes.size > 0;
    this.#outcomes.clear();
    this.bytes = 0;
    return had;
  }

  #keep(key: string, outcome: Outcome): void {
    this.#outcomes.set(key, outcome);
    this.bytes += EACH_BYTES + outcome.ends.byteLength;
  }

  #drop(key: string, outcome: Outcome): void {
    this.#outcomes.delete(key);
    this.bytes -= EACH_BYTES + outcome.ends.byteLength;
  }
}
