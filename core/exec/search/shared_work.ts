import { isLossy, type RealPath } from "./real_path.ts";

/** Words of 32 bits at the front of the shared memory. */
const WORD = { lock: 0, head: 1, tail: 2, waiting: 3, threads: 4, state: 5, wakes: 6 } as const;
const HEAD_BYTES = 64;

/** How a search stands. */
const STATE = { runs: 0, done: 1, stopped: 2 } as const;

/** Paths that are on offer at once; what does not fit stays with the thread that found it. */
const ROOM_BYTES = 1 << 20;

/** A wait that missed its wake-up ends after this. */
const WAIT_MS = 10;

/** Bytes before a path: its length. */
const LENGTH_BYTES = 4;

/**
 * The folders that the threads of one search hand each other, in memory that they share. A thread keeps what it finds to itself
 * while nobody waits. The search is done when all threads wait.
 */
export class SharedWork {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;

  /** Without memory it makes some; with it, it joins the search there, if `join` says so. */
  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(HEAD_BYTES + ROOM_BYTES)) {
    this.memory = memory;
    this.#words = new Int32Array(memory, 0, HEAD_BYTES / 4);
    this.#bytes = new Uint8Array(memory, HEAD_BYTES);
  }

  /** Counts this thread in. False if the search has ended: then there is nothing to do and nothing to report. */
  join(): boolean {
    return this.#locked(() => {
      if (this.isOver) return false;
      Atomics.add(this.#words, WORD.threads, 1);
      return true;
    });
  }

  /** How many threads have joined. */
  get threads(): number {
    return Atomics.load(this.#words, WORD.threads);
  }

  /** True if a thread waits and nothing is on offer. Cheap: asked for each folder. */
  get isWanted(): boolean {
    return Atomics.load(this.#words, WORD.waiting) > 0;
  }

  /** True when the search is done or was stopped. */
  get isOver(): boolean {
    return Atomics.load(this.#words, WORD.state) !== STATE.runs;
  }

  /** Ends the search for all threads: it was cancelled, or its time is up. */
  stop(): void {
    Atomics.store(this.#words, WORD.state, STATE.stopped);
    this.#wake();
  }

  /** Offers a folder to the others. False if there is no room for it. */
  offer(path: RealPath): boolean {
    const bytes = Buffer.from(path);
    const taken = this.#locked(() => {
      const tail = this.#words[WORD.tail] ?? 0;
      if (tail + LENGTH_BYTES + bytes.length > this.#bytes.length) return false;
      new DataView(this.memory, HEAD_BYTES).setUint32(tail, bytes.length);
      this.#bytes.set(bytes, tail + LENGTH_BYTES);
      this.#words[WORD.tail] = tail + LENGTH_BYTES + bytes.length;
      return true;
    });
    if (taken) this.#wake();
    return taken;
  }

  /** Takes a folder that is on offer. Undefined if there is none. */
  take(): RealPath | undefined {
    return this.#locked(() => this.#takeLocked());
  }

  /** Counts this thread among those that wait, until `resume`. If all wait and nothing is on offer, the search is done. */
  pause(): void {
    this.#locked(() => {
      Atomics.add(this.#words, WORD.waiting, 1);
      this.#endIfAllWait();
    });
  }

  /** Takes a folder, or nothing, for a thread that waits: with a folder it waits no longer. */
  resume(): RealPath | undefined {
    return this.#locked(() => {
      const path = this.#takeLocked();
      if (path !== undefined) Atomics.sub(this.#words, WORD.waiting, 1);
      else this.#endIfAllWait();
      return path;
    });
  }

  /** Sleeps until there may be something new. Blocks: for workers only. */
  sleep(): void {
    Atomics.wait(this.#words, WORD.wakes, Atomics.load(this.#words, WORD.wakes), WAIT_MS);
  }

  #endIfAllWait(): void {
    const { waiting, threads, head, tail, state } = WORD;
    const words = this.#words;
    if (words[head] !== words[tail] || Atomics.load(words, waiting) < Atomics.load(words, threads)) return;
    Atomics.compareExchange(words, state, STATE.runs, STATE.done);
    this.#wake();
  }

  #takeLocked(): RealPath | undefined {
    const [head, tail] = [this.#words[WORD.head] ?? 0, this.#words[WORD.tail] ?? 0];
    if (head === tail) return undefined;
    const length = new DataView(this.memory, HEAD_BYTES).getUint32(head);
    const start = head + LENGTH_BYTES;
    const bytes = Buffer.from(this.#bytes.slice(start, start + length));
    const isLast = start + length === tail;
    this.#words[WORD.head] = isLast ? 0 : start + length;
    if (isLast) this.#words[WORD.tail] = 0;
    const text = bytes.toString("utf8");
    return isLossy(text) ? bytes : text;
  }

  #wake(): void {
    Atomics.add(this.#words, WORD.wakes, 1);
    Atomics.notify(this.#words, WORD.wakes);
  }

  /** Held for some hundred instructions at most, so that even the main thread may spin for it. */
  #locked<Result>(act: () => Result): Result {
    while (Atomics.compareExchange(this.#words, WORD.lock, 0, 1) !== 0);
    try {
      return act();
    } finally {
      Atomics.store(this.#words, WORD.lock, 0);
    }
  }
}
