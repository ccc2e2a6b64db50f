import { expect, test } from "bun:test";
import { compare, quantile, whyNot } from "./alternate.ts";

test("quantile interpolates between neighbours and refuses no values", () => {
  expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
  expect(quantile([5], 0.25)).toBe(5);
  expect(() => quantile([], 0.5)).toThrow(RangeError);
});

test("a peer that is missing or fails is named, not measured", () => {
  expect(whyNot({ name: "none", argv: ["no-such-program-here"] })).toBe("no-such-program-here is not installed");
  expect(whyNot({ name: "false", argv: ["false"] })).toBe("exit code 1");
  expect(whyNot({ name: "true", argv: ["true"] })).toBeUndefined();
});

test("compare finds the slower of two programs", () => {
  const slow = { name: "slow", argv: ["sleep", "0.05"] as [string, string] };
  const result = compare(slow, { name: "fast", argv: ["true"] }, 3);
  expect(result.subject.medianMs).toBeGreaterThan(45);
  expect(result.ratio).toBeGreaterThan(2);
});
