import { expect, test } from "bun:test";
import {
  appendFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { DEFAULT_SANDBOX_REQUEST } from "../contract/sandbox_request.ts";
import { pathsToSurvey } from "../sandbox/policy.ts";
import { git, tempFolder } from "../testing/temp_folder.ts";
import { keepSurveys } from "./kept_surveys.ts";
import { surveyPlaces } from "./survey.ts";

/** Longer than a change may share its ctime with the one before. */
const SETTLED_MS = 60;

function makeWorld() {
  const folder = tempFolder({ "home/.npmrc": "token", "home/work/src/": "", "home/work/a.txt": "" });
  git(folder.at("home/work"), "init", "-q");
  const [home, workspace] = [folder.at("home"), folder.at("home/work")];
  const paths = pathsToSurvey(DEFAULT_SANDBOX_REQUEST, workspace, home);
  let made = 0;
  const anew = () => surveyPlaces(paths, { workspace, home }, "/usr/bin:/bin");
  const keep = keepSurveys(() => {
    made += 1;
    return anew();
  });
  const take = () => ({ survey: keep(paths), made });
  return { folder, anew, take };
}

test("a survey is made once, and anew when what it saw is not the same", async () => {
  const { folder, anew, take } = makeWorld();
  using _ = folder;
  const at = (name: string) => folder.at(`home/work/${name}`);
  await Bun.sleep(SETTLED_MS);
  const changes: [string, () => void][] = [
    ["a secret", () => writeFileSync(at(".env"), "A=1")],
    ["a secret below", () => writeFileSync(at("src/.env"), "A=1")],
    ["a secret that is gone", () => unlinkSync(at(".env"))],
    ["a setting of git", () => appendFileSync(at(".git/config"), "[core]\n\thooksPath = away\n")],
    ["a repository inside", () => git(at("src"), "init", "-q")],
    [
      "a link in place of a folder",
      () => {
        renameSync(at("src"), at("other"));
        symlinkSync("other", at("src"));
      },
    ],
    ["a folder of the home", () => mkdirSync(folder.at("home/.ssh"))],
    ["a file of the home that is gone", () => rmSync(folder.at("home/.npmrc"))],
  ];
  let before = take();
  for (const [what, change] of changes) {
    change();
    await Bun.sleep(SETTLED_MS);
    const after = take();
    expect([what, after.made]).toEqual([what, before.made + 1]);
    expect(after.survey).toEqual(anew());
    before = take();
    expect(before.made).toBe(after.made);
    expect(before.survey).toBe(after.survey);
  }
});

test("a change that no survey sees makes none, and one that is too young to be told apart is not kept", async () => {
  const { folder, take } = makeWorld();
  using _ = folder;
  await Bun.sleep(SETTLED_MS);
  const first = take();
  appendFileSync(folder.at("home/work/a.txt"), "more");
  utimesSync(folder.at("home/work/a.txt"), 1, 1);
  expect(take().made).toBe(first.made);
  writeFileSync(folder.at("home/work/.env"), "A=1");
  expect(take().made).toBe(first.made + 1);
  expect(take().made).toBe(first.made + 2);
});
