import type { LauncherReport } from "../../contract/enforced.ts";

/** The longest report line; a launcher that sends more is broken or not ours. */
const LINE_LIMIT_BYTES = 4 * 1024 * 1024;

/** Splits what the launcher sends into reports. Throws when a line is too long or no report. */
export async function* reportLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<LauncherReport> {
  let rest = Buffer.alloc(0);
  for await (const chunk of endingWhereReset(chunks)) {
    rest = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield parseReport(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
    }
    if (rest.length > LINE_LIMIT_BYTES)
      throw new Error(`the launcher sent a line of more than ${LINE_LIMIT_BYTES} bytes`);
  }
}

/**
 * A launcher that ends while a line of ours is unread closes a Unix socket with ECONNRESET instead of an end (unix(7)); what it
 * sent before was read already.
 */
async function* endingWhereReset(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ECONNRESET")) throw error;
  }
}

function parseReport(line: Uint8Array): LauncherReport {
  const parsed: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  const kinds = ["enforced", "refused", "denial", "trusted", "exit"];
  if (typeof parsed === "object" && parsed !== null && "t" in parsed && kinds.includes(String(parsed.t))) {
    // Written by our own launcher, whose bytes were verified before it ran; its Rust types mirror these.
    return parsed as LauncherReport;
  }
  throw new Error("the launcher sent a line that is no report");
}
