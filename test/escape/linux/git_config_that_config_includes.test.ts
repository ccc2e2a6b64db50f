import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

attempt(
  "E5 a file of the workspace that the person's config includes is not changed",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    writeFileSync(join(scratch.work, "shared.gitconfig"), "[user]\n\tname = Ada\n");
    git(scratch, ["config", "include.path", "../shared.gitconfig"]);
    await shell(
      "printf '[core]\\n\\tfsmonitor = evil\\n' >> shared.gitconfig; cp shared.gitconfig x; printf '[core]\\n\\tfsmonitor = evil\\n' >> x; mv x shared.gitconfig",
    );
    expect(git(scratch, ["config", "--default", "unset", "core.fsmonitor"])).toBe("unset\n");
    expect((await shell("echo b > b && git add b && git commit -q -m Two")).code).toBe(0);
  },
);
