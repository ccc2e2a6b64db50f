import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { scratchEnvironment } from "../../support/run_cordon.ts";

attempt(
  "E5 a repository planted among dependencies, which are exempt, names no program",
  ["git"],
  async ({ scratch, shell }) => {
    await shell(`mkdir -p node_modules/p target/x sub sub2
git init -q node_modules/p/r; git -C node_modules/p/r config core.fsmonitor evil; mkdir -p node_modules/p/r/.git/hooks; echo evil > node_modules/p/r/.git/hooks/pre-commit; echo 'gitdir: ../node_modules/p/r/.git' > sub/.git
mkdir -p target/x/objects target/x/refs; echo 'ref: refs/heads/main' > target/x/HEAD; printf '[core]\\n\\tfsmonitor = evil\\n' > target/x/config; echo 'gitdir: ../target/x' > sub2/.git`);
    for (const folder of ["node_modules/p/r", "sub", "target/x", "sub2"]) {
      const cwd = join(scratch.work, folder);
      const asked = Bun.spawnSync(["git", "config", "core.fsmonitor"], { cwd, env: scratchEnvironment(scratch) });
      expect(`${folder}: ${asked.stdout.toString()}`).toBe(`${folder}: `);
    }
    expect(existsSync(join(scratch.work, "node_modules/p/r/.git/hooks/pre-commit"))).toBe(false);
    expect(
      (
        await shell(
          "mkdir -p node_modules/q/config node_modules/q/objects && echo own > node_modules/q/config/a && echo own > node_modules/q/.npmrc && cat node_modules/q/config/a",
        )
      ).code,
    ).toBe(0);
  },
);
