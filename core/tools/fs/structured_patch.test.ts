import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Hunk, structuredPatch } from "./structured_patch.ts";

const hunk = (before: string, after: string) => structuredPatch(before, after).structuredPatch;

/** Carries a patch out and checks every line that it says is there. Marks of a missing last line end stay with their line. */
function applyPatch(before: string, hunks: Hunk[]): string {
  const old = before.split("\n");
  if (old.at(-1) === "") old.pop();
  const out: string[] = [];
  let at = 0;
  let endsWithLf = before === "" || before.endsWith("\n");
  for (const { oldStart, oldLines, lines } of hunks) {
    const from = oldLines === 0 ? oldStart : oldStart - 1;
    out.push(...old.slice(at, from));
    at = from;
    lines.forEach((line, index) => {
      const text = line.slice(1);
      const bare = lines[index + 1]?.startsWith("\\") ?? false;
      if (line.startsWith("\\")) return;
      if (!line.startsWith("+")) expect(old[at++]).toBe(text);
      if (line.startsWith("-")) return;
      out.push(text);
      endsWithLf = !bare;
    });
  }
  out.push(...old.slice(at));
  return out.length === 0
    ? ""
    : out.join("\n") + (endsWithLf || at < old.length ? lastEnd(before, at < old.length) : "");
}

function lastEnd(before: string, oldTail: boolean): string {
  return oldTail && !before.endsWith("\n") ? "" : "\n";
}

describe("structuredPatch", () => {
  test("A9 shows a change with three lines around it", () => {
    expect(hunk("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nX\n6\n7\n8\n9\n")).toEqual([
      { oldStart: 2, oldLines: 7, newStart: 2, newLines: 7, lines: [" 2", " 3", " 4", "-5", "+X", " 6", " 7", " 8"] },
    ]);
  });

  test("makes two hunks of two changes far apart and one of two near ones", () => {
    const before = Array.from({ length: 30 }, (_, index) => `${index}\n`);
    const change = (...at: number[]) => before.map((line, index) => (at.includes(index) ? "X\n" : line)).join("");
    expect(hunk(before.join(""), change(5, 20))).toHaveLength(2);
    expect(hunk(before.join(""), change(5, 12))).toHaveLength(1);
  });

  test("has no hunk for equal texts and a start of 0 for an empty side", () => {
    expect(hunk("a", "a")).toEqual([]);
    expect(hunk("", "a\n")).toEqual([{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1, lines: ["+a"] }]);
    expect(hunk("a\n", "")).toEqual([{ oldStart: 1, oldLines: 1, newStart: 0, newLines: 0, lines: ["-a"] }]);
  });

  test("marks a last line without line end as diff does", () => {
    expect(hunk("a", "a\n")[0]?.lines).toEqual(["-a", "\\ No newline at end of file", "+a"]);
  });

  test("is bounded: a change all over a long file lists 400 lines at most and says how many more", () => {
    const before = Array.from({ length: 5000 }, (_, index) => `line ${index}\n`).join("");
    const { structuredPatch: hunks, omittedLines } = structuredPatch(before, before.replaceAll("line", "LINE"));
    const shown = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
    expect(shown).toBeLessThanOrEqual(400);
    expect(shown + (omittedLines ?? 0)).toBe(10_000);
  });

  test("carried out, the patch makes the new text (property)", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "d\r", ""), { maxLength: 25 })
      .chain((lines) => fc.constantFrom(lines.join("\n"), lines.map((line) => `${line}\n`).join("")));
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applyPatch(before, hunk(before, after))).toBe(after);
      }),
    );
  });
});
