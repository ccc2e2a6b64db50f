import { expect } from "bun:test";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { makeRepository } from "../../support/scratch_repository.ts";
import { scratchEnvironment } from "../../support/run_cordon.ts";

attempt(
  "E5 settings of a single worktree, switched on and planted, name no program",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    const end =
      await shell(`git config extensions.worktreeConfig true; mkdir e sub; echo 'ref: refs/heads/main' > e/HEAD; echo ../.git > e/commondir
printf '[core]\\n\\tfsmonitor = evil\\n' > e/config.worktree; echo 'gitdir: ../e' > sub/.git
git init -q new; git -C new config extensions.worktreeConfig true; mkdir e2 sub2; printf '[core]\\n\\tfsmonitor = evil\\n' > e2/config.worktree; echo ../new/.git > e2/commondir; echo 'ref: refs/heads/main' > e2/HEAD; echo 'gitdir: ../e2' > sub2/.git
printf '[core]\\n\\tfsmonitor = evil\\n' > .git/config.worktree; printf '[core]\\n\\tfsmonitor = evil\\n' > new/.git/config.worktree; echo done`);
    expect(end.stdout).toBe("done\n");
    for (const folder of ["sub", "sub2", "new", "."]) {
      const cwd = join(scratch.work, folder);
      const asked = Bun.spawnSync(["git", "config", "core.fsmonitor"], { cwd, env: scratchEnvironment(scratch) });
      expect(`${folder}: ${asked.stdout.toString()}`).toBe(`${folder}: `);
    }
    expect(
      (await shell("git worktree add -q wt -b side && cd wt && echo b > b && git add b && git commit -q -m Two")).code,
    ).toBe(0);
  },
);
