import { expect, test } from "bun:test";
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { git, type TempFolder, tempFolder } from "../testing/temp_folder.ts";
import { findGit, surveyPlaces } from "./survey.ts";

function repository(): TempFolder {
  const folder = tempFolder({ "repo/file.txt": "x", "elsewhere/keep.txt": "x" });
  git(folder.at("repo"), "init", "-q");
  git(folder.at("repo"), "add", ".");
  git(folder.at("repo"), "commit", "-q", "-m", "first");
  return folder;
}
const survey = (folder: TempFolder, workspace: string, path = "") =>
  surveyPlaces([], { workspace, home: folder.root }, path);

test("D1 a repository is found from its top and from below", () => {
  using folder = repository();
  mkdirSync(folder.at("repo/a/b"), { recursive: true });
  const place = { gitDir: folder.at("repo/.git"), commonDir: folder.at("repo/.git") };
  expect(findGit(folder.at("repo"))).toEqual(place);
  expect(findGit(folder.at("repo/a/b"))).toEqual(place);
});

test("D1 a worktree that git made leads to its own folder and to its repository, wherever it stands", () => {
  using folder = repository();
  for (const name of ["tree", "repo/worktrees/feature"]) {
    git(folder.at("repo"), "worktree", "add", "-q", "--detach", folder.at(name));
    const admin = name.split("/").at(-1) ?? "";
    expect(findGit(folder.at(name))).toEqual({
      gitDir: folder.at("repo/.git/worktrees", admin),
      commonDir: folder.at("repo/.git"),
    });
  }
});

test("D1 a planted .git file opens no folder elsewhere, neither alone nor with a commondir that points up", () => {
  using folder = repository();
  mkdirSync(folder.at("elsewhere/worktrees/app"), { recursive: true });
  const app = folder.at("elsewhere/worktrees/app");
  writeFileSync(`${app}/.git`, `gitdir: ${folder.at("repo/.git")}\n`);
  expect(findGit(app)).toBeNull();
  // The workspace names itself as git's folder and the folder above "worktrees" as the repository.
  writeFileSync(`${app}/.git`, "gitdir: .\n");
  writeFileSync(`${app}/gitdir`, `${app}/.git\n`);
  writeFileSync(`${app}/commondir`, "../..\n");
  expect(findGit(app)?.commonDir).toBe(app);
});

test("D1 a planted .git link opens no folder elsewhere, nor does a planted commondir", () => {
  using folder = repository();
  mkdirSync(folder.at("app"));
  symlinkSync(folder.at("elsewhere"), folder.at("app/.git"));
  expect(findGit(folder.at("app"))).toBeNull();
  writeFileSync(folder.at("repo/.git/commondir"), folder.at("elsewhere"));
  expect(findGit(folder.at("repo"))?.commonDir).toBe(folder.at("repo/.git"));
});

test("D1 the trusted files of the repository are looked up with the rest", () => {
  using folder = repository();
  const { paths } = survey(folder, folder.at("repo"));
  expect(paths.get(folder.at("repo/.git/config"))?.kind).toBe("file");
  expect(paths.get(folder.at("repo/.git/config.worktree"))?.kind).toBe("missing");
});

test("D1 D10 secret files are found at any depth; samples, dependencies and folders are not", () => {
  using folder = tempFolder({
    "app/.env": "",
    "app/.env.local": "",
    "app/.env.example": "",
    "app/web/.env": "",
    "app/web/deep/er/.env": "",
    "app/.venv/lib/.env": "",
    "app/node_modules/.env": "",
    "app/.hidden/.env": "",
    "app/id_rsa": "",
    "app/id_rsa.pub": "",
    "app/.env.d/": "",
  });
  symlinkSync(folder.at("app/.env"), folder.at("app/.env.link"));
  expect([...survey(folder, folder.at("app")).secretFiles].sort()).toEqual(
    [".env", ".env.local", ".hidden/.env", "id_rsa", "web/.env", "web/deep/er/.env"].map((name) =>
      folder.at("app", name),
    ),
  );
});

test("D1 a huge folder does not make the look for secrets endless", () => {
  using folder = tempFolder(Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`app/d${n}/.env`, ""])));
  // Names are enough, and cost a tenth of as many files.
  writeFileSync(folder.at("app/f"), "");
  for (let n = 0; n < 4100; n++) linkSync(folder.at("app/f"), folder.at(`app/f${n}`));
  expect(survey(folder, folder.at("app"))).toMatchObject({ secretFiles: [], secretsUnseen: true });
});

test("D10 many folders are looked through up to a bound, the upper ones first, and the bound is told", () => {
  const deep = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`app/d${n}/e/${n === 0 ? ".env" : "x"}`, ""]));
  using large = tempFolder({ ...deep(300), "app/z/.env": "" });
  expect(survey(large, large.at("app")).secretsUnseen).toBe(true);
  using small = tempFolder({ ...deep(20), "app/z/.env": "" });
  const { secretFiles, secretsUnseen } = survey(small, small.at("app"));
  expect([[...secretFiles].sort(), secretsUnseen]).toEqual([
    [small.at("app/d0/e/.env"), small.at("app/z/.env")],
    false,
  ]);
});

test("D1 of PATH only existing folders with an absolute name count, by their real path", () => {
  using folder = tempFolder({ "bin/": "", file: "" });
  symlinkSync(folder.at("bin"), folder.at("link"));
  const path = [folder.at("link"), folder.at("file"), folder.at("gone"), "", ".", "bin"].join(":");
  expect(survey(folder, folder.root, path).pathFolders).toEqual([folder.at("bin")]);
});

test("D1 a path that can't be looked up counts as missing", () => {
  using folder = tempFolder({ file: "" });
  symlinkSync("loop", folder.at("loop"));
  const { paths } = surveyPlaces(
    [folder.at("loop"), folder.at("file"), folder.at("file/below")],
    { workspace: folder.root, home: folder.root },
    "",
  );
  expect([...paths.values()].map(({ kind }) => kind)).toEqual(["missing", "file", "missing"]);
});
