import { writeSync } from "node:fs";
import { ToolFault } from "@cordon/core/contract";

/**
 * Writes all of `text` to a descriptor before it returns. Null, or the errno of what kept it from being written: EPIPE when
 * the reader is gone, ENOSPC when a disk is full. A pipe that another program made non-blocking answers EAGAIN while it is
 * full; then this waits.
 */
export function writeFully(fd: number, text: string | Uint8Array): string | null {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno !== "EAGAIN") return errno;
      Bun.sleepSync(1);
    }
  }
  return null;
}

/**
 * Writes a command's answer to stdout. A reader who has seen enough (`| head`) is no error; any other loss throws ToolFault
 * `fs.io`, because exit code 0 would say that the answer is there. Returns whether somebody still reads.
 */
export function writeAnswer(text: string | Uint8Array): boolean {
  const errno = writeFully(1, text);
  refuseLoss(errno);
  return errno === null;
}

/** Throws ToolFault `fs.io` for an errno that means a lost answer; null and EPIPE pass. */
export function refuseLoss(errno: string | null): void {
  if (errno === null || errno === "EPIPE") return;
  throw new ToolFault({
    code: "fs.io",
    message: `Cannot write the answer to stdout: ${errno}`,
    hint: "the work is done and only its answer is lost; send stdout to a place that takes it",
  });
}

/** The errno of an error of the operating system, for example ENOSPC; for any other error its text. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
