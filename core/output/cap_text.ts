/** The most UTF-8 bytes that one string of a result may have (B18). */
export const TEXT_LIMIT_BYTES = 200_000;

/** Text that fits, and how many bytes were cut out of its middle. */
export type CappedText = { text: string; droppedBytes: number };

/**
 * Keeps the head and the tail (three to two) and says between them what is missing. Cuts only between UTF-8 characters.
 * `limitBytes` counts the kept bytes; the marker comes on top. Invalid UTF-8 becomes U+FFFD. Never throws.
 */
export function capText(bytes: Uint8Array, limitBytes: number): CappedText {
  if (bytes.length <= limitBytes) return { text: decode(bytes), droppedBytes: 0 };
  const headEnd = cutBefore(bytes, Math.floor((limitBytes * 3) / 5));
  const tailStart = cutAfter(bytes, bytes.length - (limitBytes - headEnd));
  return joinCapped(bytes.subarray(0, headEnd), bytes.subarray(tailStart), tailStart - headEnd);
}

/** Joins a head and a tail that were collected apart, with `droppedBytes` lost in between; trims halves of characters. */
export function joinCapped(head: Uint8Array, tail: Uint8Array, droppedBytes: number): CappedText {
  if (droppedBytes === 0) return { text: decode(Buffer.concat([head, tail])), droppedBytes: 0 };
  const headEnd = cutBefore(head, head.length);
  const tailStart = cutAfter(tail, 0);
  const dropped = droppedBytes + (head.length - headEnd) + tailStart;
  const marker = `\n[${dropped} bytes left out here]\n`;
  return { text: decode(head.subarray(0, headEnd)) + marker + decode(tail.subarray(tailStart)), droppedBytes: dropped };
}

/** The largest index ≤ `at` that does not lie inside a character. */
export function cutBefore(bytes: Uint8Array, at: number): number {
  let start = at;
  // A character has at most three continuation bytes (RFC 3629), so going back further would be for invalid input only.
  while (start > 0 && at - start < 3 && isContinuation(bytes[start - 1])) start--;
  const lead = bytes[start - 1];
  if (start === 0 || lead === undefined || lead < 0xc0) return at;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return start - 1 + length > at ? start - 1 : at;
}

/** The smallest index ≥ `at` that starts a character. */
function cutAfter(bytes: Uint8Array, at: number): number {
  let index = at;
  while (index < bytes.length && index - at < 3 && isContinuation(bytes[index])) index++;
  return index;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
