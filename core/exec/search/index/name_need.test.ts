import { describe, expect, test } from "bun:test";
import { fits, nameNeed } from "./name_need.ts";

/** A record's name with what the kernel leaves behind it. */
function fitsName(glob: string, name: string, behind = 0): boolean | "anything" {
  const need = nameNeed(glob, false);
  if (need === undefined) return "anything";
  const head = Buffer.alloc(19, 1);
  const length = Math.ceil((head.length + name.length + 1) / 8) * 8;
  const raw = Buffer.alloc(length, behind);
  head.copy(raw);
  raw.write(`${name}\0`, head.length, "latin1");
  return fits(need, raw, { at: head.length, end: length });
}

describe("D6 the names that a glob may match are told from those that it can't", () => {
  test.each([
    ["*.h", "a.h", "a.c"],
    ["**/*.h", "a.h", "h"],
    ["src/**/test_*.rs", "test_a.rs", "a_test_.rs"],
    ["*.{ts,tsx}", "a.tsx", "a.js"],
    ["Kconfig", "Kconfig", "Kconfig.debug"],
    ["a{b,c}", "ab", "ad"],
    ["a?c", "abc", "abd"],
    ["/x/*.c", "x.c", "x.h"],
  ])("%s: %s and not %s", (glob, fitting, other) => {
    for (const behind of [0, 0x78]) {
      expect(fitsName(glob, fitting, behind)).toBe(true);
      expect(fitsName(glob, other, behind)).toBe(false);
    }
  });

  test.each(["!*.h", "#a", "src/", "[ab].c", "*.{a,{b,c}}", "{a/b,c}", "a\\*b", "**/[!x]*", "", "caf\u00E9", "a b "])(
    "of %s nothing can be told",
    (glob) => {
      expect(fitsName(glob, "anything")).toBe("anything");
    },
  );

  test("nothing can be told where case is ignored: other letters than those of ASCII may be the same", () => {
    expect(nameNeed("*.h", true)).toBeUndefined();
    expect(nameNeed(undefined, false)).toBeUndefined();
  });
});
