import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namedByGitSettings, readSettings } from "./git_settings.ts";

const top = mkdtempSync(join(tmpdir(), "git-settings-"));
afterAll(() => rmSync(top, { recursive: true, force: true }));

test("settings are read as git writes them", () => {
  const text = `[core]
	hooksPath = "tools/my hooks" ; ours
	excludesFile=~/x\\\\y
# [include] path = no
[Include "x"] path = a \\
 b
[includeIf "gitdir:~/w/\\"q\\""]
	path = ../c
	flag
`;
  expect(readSettings(text)).toEqual([
    { key: "core.hookspath", value: "tools/my hooks" },
    { key: "core.excludesfile", value: "~/x\\y" },
    { key: "include.x.path", value: "a  b" },
    { key: 'includeif.gitdir:~/w/"q".path', value: "../c" },
    { key: 'includeif.gitdir:~/w/"q".flag', value: "true" },
  ]);
});

test("E5 what the person's and the repository's settings name in the workspace is found, through includes too", () => {
  const [home, work] = [join(top, "home"), join(top, "home/work")];
  const gitDir = join(work, ".git");
  mkdirSync(gitDir, { recursive: true });
  writeFileSync(join(home, ".gitconfig"), `[include]\n\tpath = more\n[core]\n\tattributesFile = ${work}/attr\n`);
  writeFileSync(join(home, "more"), "[core]\n\texcludesFile = ~/work/.gitignore\n[init]\n\ttemplateDir = ~/work/t\n");
  writeFileSync(
    join(gitDir, "config"),
    '[include]\n\tpath = ../shared\n[includeIf "onbranch:x"]\n\tpath = ../absent\n',
  );
  writeFileSync(join(work, "shared"), "[core]\n\thooksPath = ci/hooks\n[include]\n\tpath = shared\n");
  const named = namedByGitSettings(work, home, { gitDir, commonDir: gitDir });
  expect(named.map(({ path }) => path.slice(work.length + 1)).sort()).toEqual([
    "absent",
    "attr",
    "ci/hooks",
    "shared",
    "t",
  ]);
  // The allowed twin: without them nothing is named.
  expect(namedByGitSettings(work, join(top, "nobody"), null)).toEqual([]);
});
