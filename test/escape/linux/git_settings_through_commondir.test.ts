import { expect } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

attempt(
  "E5 git's settings can't be replaced by a planted commondir, nor hooks made where there are none",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    const plant = `mkdir -p evil && cp -r .git/* evil/ && printf '[core]\\n\\tfsmonitor = evil\\n' > evil/config
echo ../evil > .git/commondir`;
    // Proof that the door is there: on the host git takes its settings from it.
    await Bun.spawn(["sh", "-c", plant], { cwd: scratch.work }).exited;
    expect(git(scratch, ["config", "core.fsmonitor"])).toBe("evil\n");
    await Bun.spawn(["rm", "-rf", ".git/commondir", "evil"], { cwd: scratch.work }).exited;

    const planted = await shell(plant);
    expect(existsSync(join(scratch.work, ".git/commondir"))).toBe(false);
    expect(planted.stderr).toContain(".git/commondir");
    expect(git(scratch, ["config", "--default", "unset", "core.fsmonitor"])).toBe("unset\n");
    // A folder that became a link is not followed to a file outside.
    const outside = join(scratch.top, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "commondir"), "kept");
    const moved = await shell(`mv .git moved && ln -s ${outside} .git`);
    expect(moved.code).not.toBe(0);
    expect(existsSync(join(outside, "commondir"))).toBe(true);
    // Nor can hooks be made where the person has none.
    await Bun.spawn(["rm", "-rf", ".git/hooks"], { cwd: scratch.work }).exited;
    await shell(`mkdir .git/hooks && echo evil > .git/hooks/pre-commit; ln -s ${outside} .git/hooks/link`);
    expect(existsSync(join(scratch.work, ".git/hooks/pre-commit"))).toBe(false);
    expect(existsSync(join(outside, "commondir"))).toBe(true);
    // The allowed twin: work in the repository, and a file of that name elsewhere.
    expect((await shell("echo b > commondir && git add commondir && git commit -q -m Two")).code).toBe(0);
    expect(existsSync(join(scratch.work, "commondir"))).toBe(true);
  },
);
