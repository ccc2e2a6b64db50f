import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

attempt(
  "E5 git's config takes nothing that runs by way of its lock file, in a repository of the run neither",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    await shell(`git init -q new
for g in .git new/.git; do
  cp $g/config $g/config.lock; printf '[core]\\n\\tfsmonitor = evil\\n' >> $g/config.lock; mv $g/config.lock $g/config
  printf '[core]\\n\\tfsmonitor = evil\\n' > x; ln -f x $g/config; cp x $g/config; mv x $g/config; git --git-dir=$g config core.sshCommand evil
  git --git-dir=$g config remote.x.url 'ext::sh -c evil'; git --git-dir=$g config url.x.insteadOf y; git --git-dir=$g config include.path ../x
done`);
    for (const folder of [".git", "new/.git"]) {
      for (const key of ["core.fsmonitor", "core.sshCommand", "remote.x.url", "include.path"])
        expect(git(scratch, [`--git-dir=${folder}`, "config", "--default", "unset", key])).toBe("unset\n");
    }
    // The allowed twin: a new repository is worked in.
    expect(
      (
        await shell(
          "cd new && echo a > a && git add a && git -c user.name=A -c user.email=a@example.org commit -q -m One && git log --oneline",
        )
      ).code,
    ).toBe(0);
  },
);
