import { expect, test } from "bun:test";
import { closeSync, openSync } from "node:fs";
import { ToolFault } from "@cordon/core/contract";
import { refuseLoss, writeFully } from "./write_fully.ts";

test("F5: text that a full device does not take is told by its errno, and text that is taken by null", () => {
  const full = openSync("/dev/full", "w");
  const empty = openSync("/dev/null", "w");
  try {
    expect([writeFully(full, "x"), writeFully(empty, "x")]).toEqual(["ENOSPC", null]);
  } finally {
    closeSync(full);
    closeSync(empty);
  }
});

test("F5: a lost answer is a fault with a next step, a reader who has seen enough is none", () => {
  expect(() => refuseLoss("EPIPE")).not.toThrow();
  expect(() => refuseLoss(null)).not.toThrow();
  expect(() => refuseLoss("ENOSPC")).toThrow(
    new ToolFault({ code: "fs.io", message: "Cannot write the answer to stdout: ENOSPC" }),
  );
});
