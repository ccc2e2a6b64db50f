import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

attempt(
  "E5 a repository that was renamed and linked back gets no hooks and no settings",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    await shell(
      `mv .git gx; ln -s gx .git; mkdir -p gx/hooks; echo evil > gx/hooks/pre-commit; printf '[core]\\n\\tfsmonitor = evil\\n' >> gx/config; printf '[core]\\n\\tfsmonitor = evil\\n' >> .git/config`,
    );
    expect(git(scratch, ["config", "--default", "unset", "core.fsmonitor"])).toBe("unset\n");
    expect(existsSync(join(scratch.work, ".git/hooks/pre-commit"))).toBe(false);
    expect((await shell("git log --oneline && echo b > b && git add b && git commit -q -m Two")).code).toBe(0);
  },
);
