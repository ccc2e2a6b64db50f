import { expect, test } from "bun:test";
import type { ServerLine } from "./server_line.ts";
import { createOutputStream, MOST_UNSENT_BYTES } from "./stream_output.ts";

test("B7: output goes out while the client reads, and what it did not take in time is counted where it is missing", () => {
  const lines: ServerLine[] = [];
  let unsent = 0;
  const stream = createOutputStream("1", { send: (line) => lines.push(line), unsentBytes: () => unsent });
  stream.listener({ stream: "stdout", text: "a" });
  unsent = MOST_UNSENT_BYTES + 1;
  stream.listener({ stream: "stdout", text: "lost €" });
  stream.listener({ stream: "stderr", text: "lost too" });
  unsent = 0;
  stream.listener({ stream: "stdout", text: "b" });
  stream.finish();
  stream.finish();
  expect(lines).toEqual([
    { id: "1", type: "output", stream: "stdout", text: "a" },
    { id: "1", type: "output", stream: "stdout", text: "b", droppedBytes: 8 },
    { id: "1", type: "output", stream: "stderr", text: "", droppedBytes: 8 },
  ]);
});
