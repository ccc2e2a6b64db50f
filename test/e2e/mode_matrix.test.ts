// A7: five modes by three permissions, with and without somebody to ask, through both doors of the executable.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { missingPrograms } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { startServe } from "../support/serve_client.ts";
import { runAtTerminal } from "../support/terminal.ts";

type Cell = "allow" | "ask" | "deny";

/** The seed's matrix, and the truth: what a mode says of a tool that needs a permission. */
const MATRIX: Record<string, [readOnly: Cell, write: Cell, danger: Cell]> = {
  "read-only": ["allow", "deny", "deny"],
  "workspace-write": ["allow", "allow", "ask"],
  "danger-full-access": ["allow", "allow", "allow"],
  prompt: ["ask", "ask", "ask"],
  allow: ["allow", "allow", "allow"],
};

/** One call a permission. */
const CALLS = [
  { needs: "read-only", tool: "read_file", input: { path: "note" } },
  { needs: "workspace-write", tool: "write_file", input: { path: "made", content: "x" } },
  // No rule and no table knows it.
  { needs: "danger-full-access", tool: "bash", input: { command: "./own.sh" } },
] as const;

const CODES = { allow: undefined, ask: "policy.needs_answer", deny: "policy.denied" } as const;

const hasPython = missingPrograms(["python3"]).length === 0;
if (!hasPython) console.log("skipped: answers at a terminal, because python3 is not installed");

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
  writeFileSync(join(scratch.work, "note"), "a note\n");
  writeFileSync(join(scratch.work, "own.sh"), "#!/bin/sh\necho own\n", { mode: 0o755 });
});
afterEach(() => removeScratch(scratch));

for (const [mode, cells] of Object.entries(MATRIX)) {
  describe(`mode ${mode}`, () => {
    test("A7 through call with nobody to ask: ask is a no at once", async () => {
      for (const [at, { tool, input }] of CALLS.entries()) {
        const { error } = await callTool(tool, input, { scratch }, ["--mode", mode]);
        expect([tool, error?.code]).toEqual([tool, CODES[cells[at] ?? "deny"]]);
      }
    });

    test.skipIf(!hasPython)(
      "A7 through call at a terminal: the person is asked in the cells that ask and in no other",
      async () => {
        for (const [at, { tool, input }] of CALLS.entries()) {
          for (const answer of ["o", "d"]) {
            const cell = cells[at] ?? "deny";
            const args = ["call", "--mode", mode, tool, JSON.stringify(input)];
            const { shown, code } = runAtTerminal(args, { scratch }, { after: "[d]eny", keys: `${answer}\r` });
            expect([tool, shown.includes("cordon asks")]).toEqual([tool, cell === "ask"]);
            expect([tool, code]).toEqual([tool, cell === "deny" || (cell === "ask" && answer === "d") ? 3 : 0]);
          }
        }
      },
    );

    test("A7 through serve with and without a client that answers", async () => {
      for (const answer of ["once", "deny", "nobody"]) {
        const client = await startServe({ scratch }, ["--mode", mode]);
        if (answer === "nobody") await client.send({ type: "hello", answers: false });
        for (const [at, { tool, input }] of CALLS.entries()) {
          const cell = cells[at] ?? "deny";
          const asks = cell === "ask" && answer !== "nobody";
          await client.send({ id: tool, tool, input });
          if (asks) {
            await client.wait({ id: tool, type: "permission" });
            await client.send({ type: "permission", id: tool, choice: answer });
          }
          const { error } = await client.wait({ id: tool, type: "result" });
          const wanted = !asks ? CODES[cell] : answer === "deny" ? "policy.refused_by_person" : undefined;
          expect([tool, error?.code]).toEqual([tool, wanted]);
        }
        expect(client.lines.filter(({ type }) => type === "permission")).toHaveLength(
          answer === "nobody" ? 0 : cells.filter((cell) => cell === "ask").length,
        );
        await client.close();
      }
    });
  });
}
