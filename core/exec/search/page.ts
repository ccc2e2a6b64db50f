/** Which part of an ordered result the caller wants, and what of it was kept. */
export class Page {
  readonly #offset: number;
  readonly #limit: number;
  #seen = 0;

  /** Both count entries; `limit` 0 is no limit. */
  constructor(offset: number, limit: number) {
    this.#offset = offset;
    this.#limit = limit;
  }

  /** How many entries of the result were taken, on the page or not. */
  get seen(): number {
    return this.#seen;
  }

  /** True before the first entry. */
  get isEmpty(): boolean {
    return this.#seen === 0;
  }

  /** True once nothing that follows can change the answer. */
  get isFull(): boolean {
    return this.#limit !== 0 && this.#seen > this.#offset + this.#limit;
  }

  /** Takes the next `count` entries of the result. Returns which of them are on the page, end exclusive. */
  take(count: number): { from: number; to: number } {
    const end = this.#limit === 0 ? Number.POSITIVE_INFINITY : this.#offset + this.#limit;
    const from = Math.min(Math.max(this.#offset - this.#seen, 0), count);
    const to = Math.min(Math.max(end - this.#seen, 0), count);
    this.#seen += count;
    return { from, to };
  }

  /** What the answer says of the page: only what left something out. */
  get applied(): { appliedLimit?: number; appliedOffset?: number; truncated: boolean } {
    return {
      ...(this.isFull ? { appliedLimit: this.#limit } : {}),
      ...(this.#offset > 0 ? { appliedOffset: this.#offset } : {}),
      truncated: this.isFull,
    };
  }
}
