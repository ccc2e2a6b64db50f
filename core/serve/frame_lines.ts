/** One line of input, or why there is none. Each kind but "line" stands for one whole line that was skipped. */
export type Frame = { kind: "line"; text: string } | { kind: "too_long" } | { kind: "bad_utf8" };

/** Cuts bytes into lines. Any split of the same bytes into chunks gives the same frames. */
export type LineFramer = {
  push: (chunk: Uint8Array) => Frame[];
  /** The rest without `\n` is a line too. Call once, at the end of input. */
  end: () => Frame[];
};

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Lines end in `\n` or `\r\n`; empty ones are left out. A line of more than `limitBytes` (without its end) gives "too_long" as
 * soon as that is known, and its rest is skipped without being kept.
 */
export function createLineFramer(limitBytes: number): LineFramer {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let skipping = false;

  /** Adds a part of the current line. `limitBytes` + 1 are kept, since the last may be a `\r` that does not count. */
  const add = (part: Uint8Array, out: Frame[]) => {
    if (skipping || part.length === 0) return;
    // Copied, not viewed: the reader may use its buffer again, and a view would keep a whole chunk alive.
    kept.push(part.slice());
    keptBytes += part.length;
    if (keptBytes <= limitBytes || (keptBytes === limitBytes + 1 && part.at(-1) === RETURN)) return;
    skipping = true;
    kept = [];
    out.push({ kind: "too_long" });
  };
  const finishLine = (out: Frame[]) => {
    const line = kept.length === 1 && kept[0] ? kept[0] : Buffer.concat(kept);
    const wasSkipping = skipping;
    kept = [];
    keptBytes = 0;
    skipping = false;
    const text = line.at(-1) === RETURN ? line.subarray(0, -1) : line;
    if (!wasSkipping && text.length > 0) out.push(decode(decoder, text));
  };
  return {
    push: (chunk) => {
      const out: Frame[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
        add(chunk.subarray(start, end), out);
        finishLine(out);
        start = end + 1;
      }
      add(chunk.subarray(start), out);
      return out;
    },
    end: () => {
      const out: Frame[] = [];
      finishLine(out);
      return out;
    },
  };
}

function decode(decoder: TextDecoder, bytes: Uint8Array): Frame {
  try {
    return { kind: "line", text: decoder.decode(bytes) };
  } catch {
    return { kind: "bad_utf8" };
  }
}
