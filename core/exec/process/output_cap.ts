import { write } from "node:fs";
import type { ObservedDenial } from "../../contract/enforced.ts";

/** One bound on all streams of a command: what is beyond it is read and dropped, so that the command can still end by itself. */
export type OutputCap = { within: (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<Uint8Array> };

/** `onPassed` is called once, with the first byte that is too many. Without a limit nothing is dropped. */
export function createOutputCap(limitBytes: number | undefined, onPassed: () => void): OutputCap {
  let left = limitBytes ?? Number.POSITIVE_INFINITY;
  let passed = false;
  const within = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      const kept = chunk.length <= left ? chunk : chunk.subarray(0, left);
      left -= kept.length;
      if (kept.length > 0) yield kept;
      if (kept.length === chunk.length || passed) continue;
      passed = true;
      onPassed();
    }
  };
  return { within };
}

/** The event of a run that was ended because it said too much. */
export function outputDenial(limitBytes: number): ObservedDenial {
  const reason = `the output limit of ${sizeWords(limitBytes)} was reached and the command was ended`;
  return { op: "limit", syscall: "write", pid: 0, rule: "limits", reason, grant: "--output" };
}

/** In the largest unit that keeps it whole, as the launcher tells its limits. */
function sizeWords(bytes: number): string {
  const units: [number, string][] = [
    [1024 ** 3, "GB"],
    [1024 ** 2, "MB"],
    [1024, "KB"],
  ];
  const whole = units.find(([unit]) => bytes >= unit && bytes % unit === 0);
  return whole ? `${bytes / whole[0]} ${whole[1]}` : `${bytes} bytes`;
}

/**
 * Hands chunks on to a descriptor of ours, as slowly as its reader takes them. When nobody reads any more it stops, and with it
 * the command's own end of the pipe breaks, as without us.
 */
export async function passOn(chunks: AsyncGenerator<Uint8Array>, fd: number): Promise<void> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const written = await writeSome(fd, chunk.subarray(at));
      if (written === null) return;
      at += written;
    }
  }
}

/** In a thread of the runtime: a reader that never comes back must not keep a time limit from being seen. */
function writeSome(fd: number, bytes: Uint8Array): Promise<number | null> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => {
      if (!error) resolve(written);
      else if (error.code === "EAGAIN") setTimeout(() => resolve(0), 1);
      else if (error.code === "EPIPE" || error.code === "EIO") resolve(null);
      else reject(error);
    });
  });
}
