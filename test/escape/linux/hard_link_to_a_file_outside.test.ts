import { expect } from "bun:test";
import { existsSync, linkSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 a hard link can't bring a file of the home into the workspace", ["ln"], async ({ scratch, shell }) => {
  const own = join(scratch.home, "own.txt");
  writeFileSync(own, "mine\n");
  await shell("ln ~/own.txt here; echo changed > here; ln -L ~/own.txt there; echo changed >> there");
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  expect((await shell("cat here there")).stdout).not.toContain("mine");
  // The allowed twin: within the workspace links are everyday (pnpm makes thousands).
  expect(await shell("echo a > one && ln one two && cat two")).toMatchObject({ code: 0, stdout: "a\n" });
  // One that the person made beforehand is a name of the workspace like any other.
  linkSync(own, join(scratch.work, "given"));
  expect((await shell("cat given")).stdout).toBe("mine\n");
  expect(existsSync(own)).toBe(true);
});
