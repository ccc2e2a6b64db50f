import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";
import { git, makeRepository } from "../../support/scratch_repository.ts";

const PLANT = "printf '#!/bin/sh\\ntouch \"$OWNED\"\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit";

attempt(
  "E5 a git hook can't be planted, not by renaming .git away either",
  ["git"],
  async ({ scratch, around, shell }) => {
    makeRepository(scratch);
    const config = readFileSync(join(scratch.work, ".git/config"), "utf8");
    const report = JSON.parse((await runCordon(["doctor", "--json"], around)).stdout);
    const offer = report.properties.find(({ property }: { property: string }) => property === "fs.protected");
    expect(offer.state).toBe("enforced");
    expect((await runCordon(["run", "--require", "fs.protected", "--", "true"], around)).code).toBe(0);
    await shell(PLANT);
    await shell("git config core.fsmonitor ./evil; git config core.hooksPath evil; echo '[core]' >> .git/config");
    await shell(`mv .git moved && mkdir -p .git/hooks && cp -r moved/* .git/; ${PLANT}`);
    await shell(`mv .git/hooks .git/h2; mkdir .git/hooks; ${PLANT}; rm -rf .git/hooks; mount --move .git/hooks /tmp`);
    expect(existsSync(join(scratch.work, ".git/hooks/pre-commit"))).toBe(false);
    expect(readFileSync(join(scratch.work, ".git/config"), "utf8")).toBe(config);
    // The allowed twin.
    expect((await shell("echo b > b && git add b && git commit -q -m Two")).code).toBe(0);
    expect(git(scratch, ["log", "--format=%s"])).toBe("Two\nStart\n");
  },
);
