import { writeSync } from "node:fs";

/**
 * Writes all of `text` to a descriptor before it returns. False when the reader is gone. A pipe that another program made
 * non-blocking answers EAGAIN while it is full; then this waits.
 */
export function writeFully(fd: number, text: string): boolean {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if (!isErrno(error, "EAGAIN")) return false;
      Bun.sleepSync(1);
    }
  }
  return true;
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
