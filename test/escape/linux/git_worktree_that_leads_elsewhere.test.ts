import { expect } from "bun:test";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";
import { scratchEnvironment } from "../../support/run_cordon.ts";

attempt(
  "E5 what leads from a worktree to its repository leads to no settings of the command's",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    git(scratch, ["worktree", "add", "-q", "wt", "-b", "side"]);
    await shell(
      `cp -r .git evil; printf '[core]\\n\\tfsmonitor = evil\\n' > evil/config; echo $PWD/evil > .git/worktrees/wt/commondir; echo "gitdir: $PWD/evil" > wt/.git; printf '[core]\\n\\tfsmonitor = evil\\n' > .git/worktrees/wt/config.worktree; true`,
    );
    const asked = Bun.spawnSync(["git", "config", "core.fsmonitor"], {
      cwd: join(scratch.work, "wt"),
      env: scratchEnvironment(scratch),
    });
    expect(asked.stdout.toString()).toBe("");
    expect((await shell("cd wt && echo b > b && git add b && git commit -q -m Two")).code).toBe(0);
  },
);
