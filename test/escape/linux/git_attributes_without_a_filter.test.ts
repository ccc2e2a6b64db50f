import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

attempt(
  "E5 attributes name no filter that runs, since no filter can be defined",
  ["git"],
  async ({ scratch, shell }) => {
    makeRepository(scratch);
    const end = await shell(`echo '* filter=evil diff=evil merge=evil' > .gitattributes
git config filter.evil.clean 'touch planted'; git config diff.evil.textconv 'touch planted'; git -c filter.evil.clean=cat add .gitattributes; echo done`);
    expect(end.stdout).toContain("done");
    git(scratch, ["status", "--short"]);
    git(scratch, ["diff"]);
    expect(existsSync(join(scratch.work, "planted"))).toBe(false);
    expect((await shell("git commit -q -m Attributes")).code).toBe(0);
  },
);
