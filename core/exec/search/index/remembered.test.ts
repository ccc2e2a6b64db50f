import { describe, expect, test } from "bun:test";
import { Remembered } from "./remembered.ts";

const outcome = (pairs: number, rules = "r") => ({ rules, clock: 1, ends: new Int32Array(pairs * 2) });

describe("D6 outcomes of searches are kept within bounds", () => {
  test("the same search finds its outcome while the rules are the same, and never again once they were others", () => {
    const remembered = new Remembered();
    remembered.keep("a", outcome(1));
    expect(remembered.find("a", "r")).toEqual(outcome(1));
    expect(remembered.find("b", "r")).toBeUndefined();
    expect(remembered.find("a", "other")).toBeUndefined();
    expect(remembered.find("a", "r")).toBeUndefined();
    expect(remembered.bytes).toBe(0);
  });

  test("what was not asked for the longest time goes first", () => {
    const remembered = new Remembered();
    const quarter = 512 << 10;
    for (const key of ["a", "b", "c"]) remembered.keep(key, outcome(quarter));
    expect(remembered.find("a", "r")).toBeDefined();
    remembered.keep("d", outcome(quarter));
    expect(["a", "b", "c", "d"].filter((key) => remembered.find(key, "r"))).toEqual(["a", "c", "d"]);
  });

  test("searches in which nothing matched are not kept without end, and forgetting leaves nothing", () => {
    const remembered = new Remembered();
    for (let at = 0; at < 5000; at += 1) remembered.keep(`${at}`, outcome(0));
    expect(remembered.find("0", "r")).toBeUndefined();
    expect(remembered.find("4999", "r")).toBeDefined();
    expect(remembered.bytes).toBeLessThan(4 << 20);
    expect([remembered.clear(), remembered.bytes, remembered.clear()]).toEqual([true, 0, false]);
  });
});
