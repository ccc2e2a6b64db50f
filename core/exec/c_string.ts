const ENCODER = new TextEncoder();
const NUL = Buffer.from([0]);

/** Text, or a name as bytes, with the NUL byte at its end that calls of the C library want. */
export function cString(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? ENCODER.encode(`${text}\0`) : Buffer.concat([text, NUL]);
}
