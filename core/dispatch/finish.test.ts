import { expect, test } from "bun:test";
import { createAuditLog } from "../audit/audit.ts";
import { refuse } from "../contract/refuse.ts";
import { openAppendLog } from "../store/append_log.ts";
import { auditIn, echoTool, requestOf, smallCore } from "../testing/small_core.ts";
import { tempFolder } from "../testing/temp_folder.ts";
import { dispatch } from "./dispatch.ts";
import { finish } from "./finish.ts";

const clock = { now: () => 1, monotonic: () => 2, newId: () => "row", pid: 3 };

test("E1 when the closing row can't be written the result is an error, although the tool succeeded", async () => {
  using folder = tempFolder({ "app/": "" });
  let rows = 0;
  const log = openAppendLog(folder.at("audit.jsonl"));
  const gone = openAppendLog(folder.at("gone.jsonl"));
  gone.close();
  // The second row goes to a log whose descriptor is closed, as on a disk that went away.
  const audit = createAuditLog(() => (rows++ === 0 ? log : gone), clock);
  const result = await dispatch(requestOf("echo", { text: "x" }), smallCore({ folder, tools: [echoTool()], audit }));
  expect(result).toMatchObject({
    ok: false,
    error: { code: "audit.unwritable", hint: expect.stringContaining("the call has ended") },
  });
  log.close();
});

test("E1 a refusal carries its row's id, and nothing of what it has not", () => {
  using folder = tempFolder({ "app/": "" });
  const core = smallCore({ folder, tools: [], audit: auditIn(folder) });
  const request = requestOf("x", {});
  const row = core.audit.open(request);
  const result = finish(request, refuse({ code: "tool.unknown", message: "no", at: "validate" }), row, core);
  expect(result).toEqual({
    ok: false,
    error: { code: "tool.unknown", message: "no", at: "validate" },
    meta: { durationMs: expect.any(Number), auditId: row.id },
  });
});
