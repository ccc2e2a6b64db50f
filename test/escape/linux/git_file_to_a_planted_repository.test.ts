import { expect } from "bun:test";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { scratchEnvironment } from "../../support/run_cordon.ts";

attempt(
  "E5 a .git file leads to no planted repository with settings of its own",
  ["git"],
  async ({ scratch, shell }) => {
    await shell(`mkdir -p evil/objects evil/refs sub; echo 'ref: refs/heads/main' > evil/HEAD; printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = evil\\n' > evil/config; echo 'gitdir: ../evil' > sub/.git
mkdir -p late sub2; printf '[core]\\n\\tfsmonitor = evil\\n' > late/config; mkdir late/objects late/refs; echo 'ref: refs/heads/main' > late/HEAD; echo 'gitdir: ../late' > sub2/.git`);
    for (const name of ["sub", "sub2"]) {
      const asked = Bun.spawnSync(["git", "config", "core.fsmonitor"], {
        cwd: join(scratch.work, name),
        env: scratchEnvironment(scratch),
      });
      expect(asked.stdout.toString()).toBe("");
    }
    // The allowed twin: a repository made by git, with its .git elsewhere.
    expect(
      await shell("git init -q --separate-git-dir=store own && git -C own status --short && cat own/.git | head -c 7"),
    ).toMatchObject({ code: 0, stdout: "gitdir:" });
  },
);
