import { errnoOf } from "./write_fully.ts";

/** Writes JSON lines to stdout in order, without ever blocking the process on a slow reader. */
export type LineWriter = {
  send: (line: object) => void;
  /** Lines that are written out already, each with its end. They are not to be changed any more. */
  sendBytes: (lines: Uint8Array) => void;
  /** Bytes (of lines that were objects: UTF-16 units) that were sent and not yet taken by the pipe. */
  unreadBytes: () => number;
  /** Resolves when all that was sent is written, or the reader is gone. */
  flush: () => Promise<void>;
  /** Resolves when nothing can be written any more. */
  closed: Promise<"closed">;
  /** The errno that ended the writing, such as ENOSPC or, when the reader is gone, EPIPE; null while it goes on. */
  lost: () => string | null;
};

/** Lines of one turn of the event loop go out in one write. */
export function createLineWriter(): LineWriter {
  const sink = Bun.stdout.writer({ highWaterMark: 256 * 1024 });
  const closed = Promise.withResolvers<"closed">();
  let pending: (string | Uint8Array)[] = [];
  let unread = 0;
  let lost: string | null = null;
  let pump: Promise<void> | null = null;
  const drain = async () => {
    // The first line waits for the others of this turn.
    await Promise.resolve();
    while (pending.length > 0 && lost === null) {
      const parts = joined(pending);
      pending = [];
      try {
        // A large write answers with a promise that rejects when the device is full; flush() says nothing of it.
        for (const part of parts) await sink.write(part);
        await sink.flush();
      } catch (error) {
        lost = errnoOf(error);
        closed.resolve("closed");
      }
      for (const part of parts) unread -= part.length;
    }
    pump = null;
  };
  const add = (lines: string | Uint8Array) => {
    if (lost !== null) return;
    pending.push(lines);
    unread += lines.length;
    pump ??= drain();
  };
  return {
    send: (line) => add(`${JSON.stringify(line)}\n`),
    sendBytes: add,
    unreadBytes: () => unread,
    flush: async () => {
      while (pump) await pump;
    },
    closed: closed.promise,
    lost: () => lost,
  };
}

/** Texts that stand side by side as one. */
function joined(parts: readonly (string | Uint8Array)[]): (string | Uint8Array)[] {
  const made: (string | Uint8Array)[] = [];
  let texts: string[] = [];
  const close = () => {
    if (texts.length > 0) made.push(texts.join(""));
    texts = [];
  };
  for (const part of parts) {
    if (typeof part === "string") texts.push(part);
    else {
      close();
      made.push(part);
    }
  }
  close();
  return made;
}
