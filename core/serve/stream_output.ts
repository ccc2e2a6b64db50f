import type { OutputListener } from "../contract/request.ts";
import type { ServerLine } from "./server_line.ts";

/**
 * With this much unread, a command's output is left out of the stream and counted. A command can write faster than any
 * client reads, and what waits is held in memory; head and tail are in the result all the same.
 */
export const MOST_UNSENT_BYTES = 16 * 1024 * 1024;

/** The stream of one call. `finish` tells what was left out last; call it before the result is sent. */
export type OutputStream = { listener: OutputListener; finish: () => void };

/** Sends a call's output as it comes, as long as the client reads. `unsentBytes` is what it has not taken yet. */
export function createOutputStream(
  id: string,
  { send, unsentBytes }: { send: (line: ServerLine) => void; unsentBytes: () => number },
): OutputStream {
  const dropped = { stdout: 0, stderr: 0 };
  const tell = (stream: "stdout" | "stderr", text: string) => {
    const droppedBytes = dropped[stream];
    dropped[stream] = 0;
    send({ id, type: "output", stream, text, ...(droppedBytes > 0 ? { droppedBytes } : {}) });
  };
  return {
    listener: ({ stream, text }) => {
      if (unsentBytes() > MOST_UNSENT_BYTES) dropped[stream] += Buffer.byteLength(text);
      else tell(stream, text);
    },
    finish: () => {
      if (dropped.stdout > 0) tell("stdout", "");
      if (dropped.stderr > 0) tell("stderr", "");
    },
  };
}
