import { expect } from "bun:test";
import { existsSync, lstatSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { makeRepository } from "../../support/scratch_repository.ts";

attempt("E5 a link that leads to git's hooks can't be replaced", ["git"], async ({ scratch, tier, shell }) => {
  if (tier === "landlock") return; // The same as in git_hooks_through_a_renamed_ancestor: it says so there.
  makeRepository(scratch);
  const at = (...names: string[]) => join(scratch.work, ...names);
  renameSync(at(".git/hooks"), at("real"));
  symlinkSync("real", at("between"));
  symlinkSync("../between", at(".git/hooks"));
  mkdirSync(at("settings"));
  writeFileSync(at("settings/tasks.json"), "{}");
  symlinkSync(at("settings"), at(".vscode"));
  const plant = (folder: string) => `mkdir -p ${folder} && echo evil > ${folder}/pre-commit`;
  for (const link of [".git/hooks", "between", ".vscode"]) {
    const end = await shell(`rm ${link} && echo removed; mv ${link} m && echo moved; ln -sfn /tmp ${link} && echo made
${plant(link)} && echo planted`);
    expect([link, end.stdout]).toEqual([link, ""]);
    expect(lstatSync(at(link)).isSymbolicLink()).toBe(true);
    expect(existsSync(at(link, "pre-commit"))).toBe(false);
  }
  // The allowed twin: what is behind a link is read, and other links are made and removed.
  expect(await shell("cat .vscode/tasks.json; ln -s a b && rm b && git status -s > /dev/null")).toMatchObject({
    code: 0,
    stdout: "{}",
  });
});
