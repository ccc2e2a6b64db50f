import { expect } from "bun:test";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 a symlink out of the workspace leads nowhere, old or new", ["ln"], async ({ scratch, shell }) => {
  const own = join(scratch.home, "own.txt");
  writeFileSync(own, "mine\n");
  symlinkSync(scratch.home, join(scratch.work, "old"));
  await shell(
    `echo x > old/own.txt; echo x > old/new.txt; ln -s ${scratch.home} new; echo x > new/own.txt; rm -f new/own.txt`,
  );
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  expect(existsSync(join(scratch.home, "new.txt"))).toBe(false);
  expect((await shell("cat old/own.txt new/own.txt")).stdout).toBe("");
  // A link whose own place is swapped while the command runs is resolved by the kernel each time.
  await shell(
    `mkdir d; (for i in $(seq 50); do rm -rf d; ln -s ${scratch.home} d; rm d; mkdir d; done) & for i in $(seq 200); do echo x > d/own.txt; done; wait`,
  );
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  expect(await shell("echo a > one && ln -s one two && cat two")).toMatchObject({ code: 0, stdout: "a\n" });
});
