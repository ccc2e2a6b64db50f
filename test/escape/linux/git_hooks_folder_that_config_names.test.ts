import { expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

attempt(
  "E5 hooks in a folder of the workspace that the person's config names are not changed",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    mkdirSync(join(scratch.work, ".githooks"));
    writeFileSync(join(scratch.work, ".githooks/pre-commit"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    git(scratch, ["config", "core.hooksPath", ".githooks"]);
    await shell(
      "echo evil > .githooks/pre-commit; echo evil > .githooks/post-checkout; chmod +x .githooks/*; mv .githooks x; mkdir .githooks; echo evil > .githooks/pre-commit",
    );
    expect(readFileSync(join(scratch.work, ".githooks/pre-commit"), "utf8")).toBe("#!/bin/sh\nexit 0\n");
    expect(readdirSync(join(scratch.work, ".githooks"))).toEqual(["pre-commit"]);
    expect((await shell("echo b > b && git add b && git commit -q -m Two")).code).toBe(0);
  },
);
