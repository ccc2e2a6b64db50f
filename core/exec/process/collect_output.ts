import { type CappedText, joinCapped } from "../../output/cap_text.ts";

/** Bytes kept of one stream: below the limit of a result's string, so that the marker fits too. */
export const COLLECT_LIMIT_BYTES = 198_000;

const HEAD_BYTES = Math.floor((COLLECT_LIMIT_BYTES * 3) / 5);

/**
 * Reads a stream to its end with bounded memory: the head and the tail stay, the middle is counted. `listener` gets all of
 * it as it comes, cut between UTF-8 characters only.
 */
export async function collectOutput(
  stream: AsyncIterable<Uint8Array>,
  listener?: (text: string) => void,
): Promise<CappedText> {
  const head: Uint8Array[] = [];
  const tail = new TailBuffer(COLLECT_LIMIT_BYTES - HEAD_BYTES);
  const text = listener ? new TextDecoder("utf-8", { ignoreBOM: true }) : null;
  let headBytes = 0;
  for await (const chunk of stream) {
    const toHead = chunk.subarray(0, Math.max(0, HEAD_BYTES - headBytes));
    if (toHead.length > 0) head.push(new Uint8Array(toHead));
    headBytes += toHead.length;
    tail.push(chunk.subarray(toHead.length));
    if (text && listener) emit(text.decode(chunk, { stream: true }), listener);
  }
  if (text && listener) emit(text.decode(), listener);
  return joinCapped(Buffer.concat(head), tail.bytes(), tail.droppedBytes);
}

function emit(text: string, listener: (text: string) => void): void {
  if (text !== "") listener(text);
}

/** Keeps the last bytes that were pushed, in a ring that is made once, and counts the ones that fell out. */
class TailBuffer {
  droppedBytes = 0;
  readonly #limitBytes: number;
  #ring: Uint8Array | null = null;
  #end = 0;
  #length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#ring ??= new Uint8Array(this.#limitBytes);
    const kept = chunk.subarray(Math.max(0, chunk.length - this.#limitBytes));
    const first = kept.subarray(0, this.#limitBytes - this.#end);
    this.#ring.set(first, this.#end);
    this.#ring.set(kept.subarray(first.length), 0);
    this.#end = (this.#end + kept.length) % this.#limitBytes;
    const over = Math.max(0, this.#length + chunk.length - this.#limitBytes);
    this.droppedBytes += over;
    this.#length += chunk.length - over;
  }

  bytes(): Uint8Array {
    const ring = this.#ring ?? new Uint8Array();
    if (this.#length < this.#limitBytes) return ring.subarray(0, this.#length);
    return Buffer.concat([ring.subarray(this.#end), ring.subarray(0, this.#end)]);
  }
}
