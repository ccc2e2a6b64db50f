import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

/** What git on the host obeys when it is started in the workspace: in a submodule, another worktree, a nested repository. */
const OBEYED = [
  ".git/modules/part/config",
  ".git/modules/part/hooks/post-commit",
  ".git/worktrees/tree/commondir",
  "part/.git",
  "inner/.git/config",
  "inner/.git/hooks/post-commit",
];

attempt(
  "E5 git's settings can't be changed in a submodule, another worktree or a nested repository",
  ["git"],
  async ({ scratch, tier, shell }) => {
    if (tier === "landlock") return; // The same as in git_hooks_through_a_renamed_ancestor: it says so there.
    makeRepository(scratch);
    git(scratch, ["clone", "-q", ".", "inner"]);
    git(scratch, ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./inner", "part"]);
    git(scratch, ["commit", "-q", "-m", "Part"]);
    git(scratch, ["worktree", "add", "-q", "../tree"]);
    for (const hooks of [".git/modules/part/hooks", "inner/.git/hooks"]) {
      writeFileSync(join(scratch.work, hooks, "post-commit"), "#!/bin/sh\n", { mode: 0o755 });
    }
    for (const path of OBEYED) {
      const before = readFileSync(join(scratch.work, path), "utf8");
      const end = await shell(`echo evil >> ${path} && echo written; rm -f ${path} && echo removed`);
      expect([path, end.stdout]).toEqual([path, ""]);
      expect(readFileSync(join(scratch.work, path), "utf8")).toBe(before);
    }
    await shell("mv part moved; mv inner moved2; mv .git/modules .git/m2; mv .git/worktrees/tree .git/worktrees/t2");
    for (const path of OBEYED) expect(readFileSync(join(scratch.work, path), "utf8")).not.toContain("evil");
    // The allowed twin: work goes on in the submodule.
    const commit = "git -c user.name=A -c user.email=a@example.org commit -q -m Two";
    expect(await shell(`cd part && echo b > b && git add b && ${commit} && git log --format=%s -1`)).toMatchObject({
      code: 0,
      stdout: "Two\n",
    });
  },
);
