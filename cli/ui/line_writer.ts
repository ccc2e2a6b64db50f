import { errnoOf } from "./write_fully.ts";

/** Writes JSON lines to stdout in order, without ever blocking the process on a slow reader. */
export type LineWriter = {
  send: (line: object) => void;
  /** Bytes (UTF-16 units) that were sent and not yet taken by the pipe. */
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
  let pending: string[] = [];
  let unread = 0;
  let lost: string | null = null;
  let pump: Promise<void> | null = null;
  const drain = async () => {
    // The first line waits for the others of this turn.
    await Promise.resolve();
    while (pending.length > 0 && lost === null) {
      const text = pending.join("");
      pending = [];
      try {
        // A large write answers with a promise that rejects when the device is full; flush() says nothing of it.
        await sink.write(text);
        await sink.flush();
      } catch (error) {
        lost = errnoOf(error);
        closed.resolve("closed");
      }
      unread -= text.length;
    }
    pump = null;
  };
  return {
    send: (line) => {
      if (lost !== null) return;
      const text = `${JSON.stringify(line)}\n`;
      pending.push(text);
      unread += text.length;
      pump ??= drain();
    },
    unreadBytes: () => unread,
    flush: async () => {
      while (pump) await pump;
    },
    closed: closed.promise,
    lost: () => lost,
  };
}
