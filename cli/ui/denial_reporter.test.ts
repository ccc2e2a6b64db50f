import { expect, test } from "bun:test";
import type { Denial } from "@cordon/core/contract";
import { renderDenial } from "./denial_reporter.ts";

const denial: Denial = {
  at: 0,
  op: "write",
  path: "/root/.bashrc",
  rule: "fs.write_confined",
  reason: "outside the workspace",
  grant: "--allow-write=/root/.bashrc",
};

test("E9: a denial is one line with what, why and the smallest grant", () => {
  expect(renderDenial(denial)).toBe(
    "cordon: blocked write /root/.bashrc (outside the workspace); allow with --allow-write=/root/.bashrc",
  );
});

test("E9: a path can't forge a second line or hide its end", () => {
  expect(
    renderDenial({ ...denial, path: "/a\ncordon: all is well\u001b[2K", grant: "--allow-write=/a\ncordon" }),
  ).not.toMatch(/[\n\u001b]/);
});

test("E9: a limit is told with the flag that raises it", () => {
  const { path: _, ...rest } = denial;
  const reason = "the memory limit of 2 GB was reached; the kernel ended 1 process";
  expect(renderDenial({ ...rest, op: "limit", syscall: "page_fault", rule: "limits", reason, grant: "--memory" })).toBe(
    "cordon: the memory limit of 2 GB was reached; the kernel ended 1 process; raise it with --memory",
  );
});

test("E9: a guess says that it is one", () => {
  expect(renderDenial({ ...denial, guess: true })).toContain("guess");
});
