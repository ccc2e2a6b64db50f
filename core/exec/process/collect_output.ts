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
    if (toHead.length > 0) head.push(Uint8Array.from(toHead));
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

/** Keeps the last bytes that were pushed and counts the ones that fell out. */
class TailBuffer {
  droppedBytes = 0;
  readonly #limitBytes: number;
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(Uint8Array.from(chunk));
    this.#length += chunk.length;
    // Twice the limit, so that trimming costs a constant share of what is pushed.
    if (this.#length > this.#limitBytes * 2) this.#trim();
  }

  bytes(): Uint8Array {
    this.#trim();
    return Buffer.concat(this.#chunks);
  }

  #trim(): void {
    const over = this.#length - this.#limitBytes;
    if (over <= 0) return;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all.subarray(over)];
    this.#length = this.#limitBytes;
    this.droppedBytes += over;
  }
}
