import { expect, test } from "bun:test";
import fc from "fast-check";
import { nearestNames } from "./nearest_names.ts";

test("a slip of the keyboard finds the name, a different word finds none", () => {
  expect(nearestNames("read_fiel", ["read_file", "bash"])).toEqual(["read_file"]);
  expect(nearestNames("READ_FILE", ["read_file"])).toEqual(["read_file"]);
  expect(nearestNames("file", ["read_file", "write_file", "edit_file"])).toHaveLength(2);
  expect(nearestNames("zzzzzz", ["read_file", "bash"])).toEqual([]);
});

test("a name is nearer to itself than names that hold it", () => {
  expect(nearestNames("file", ["read_file", "write_file", "file"])).toEqual(["file", "read_file"]);
});

test("a known name is always its own nearest, and the answer is known names only", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z_]{4,20}$/), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      fc.string(),
      (known, at, other) => {
        const name = known[at % known.length] ?? "";
        expect(nearestNames(name, known)).toContain(name);
        for (const found of nearestNames(other, known)) expect(known).toContain(found);
      },
    ),
  );
});
