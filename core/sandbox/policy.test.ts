import { expect, test } from "bun:test";
import { DEFAULT_SANDBOX_REQUEST, type SandboxRequest } from "../contract/sandbox_request.ts";
import type { Survey } from "../contract/survey.ts";
import { DEVELOPER, surveyOf } from "../testing/made_up_machine.ts";
import { buildPolicy, canBeWorkspace, pathsToSurvey } from "./policy.ts";

const policyOf = (request: Partial<SandboxRequest> = {}, survey: Survey = DEVELOPER) =>
  buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, ...request }, survey);
const at = (entries: readonly { path: string }[]) => entries.map(({ path }) => path).sort();

test("D1 by default the workspace is writable, the system readable, secrets hidden and trusted files protected", () => {
  const policy = policyOf();
  expect(policy.write).toEqual(["/home/ada/app", "/home/ada/app/.git"]);
  expect([...policy.read].sort()).toEqual([
    "/etc",
    "/home/ada/.cargo/bin",
    "/home/ada/app",
    "/sys",
    "/usr",
    "/usr/bin",
  ]);
  expect(at(policy.hidden)).toEqual(["/etc/shadow", "/home/ada/.ssh", "/home/ada/app/.env"]);
  expect(at(policy.protected)).toEqual([
    "/home/ada/app/.envrc",
    "/home/ada/app/.git/config",
    "/home/ada/app/.git/hooks",
  ]);
  expect(policy.links).toEqual([
    { path: "/bin", target: "usr/bin" },
    { path: "/lib", target: "usr/lib" },
  ]);
  expect(policy.network).toBe("blocked");
});

test("D1 the home folder, what is above it and the system are no workspace; a folder in the home is", () => {
  for (const folder of ["/", "/home", "/home/ada", "/etc", "/tmp", "/usr", "/root", "/var"])
    expect([folder, canBeWorkspace(folder, "/home/ada")]).toEqual([folder, false]);
  for (const folder of ["/home/ada/app", "/home/ada2", "/srv/app", "/tmp/x", "/home/bob/app"])
    expect([folder, canBeWorkspace(folder, "/home/ada")]).toEqual([folder, true]);
});

test("D1 in the home folder nothing is writable until a flag says so", () => {
  const home = surveyOf(["/usr/", "/home/ada/", "/home/ada/out/"], { workspace: "/home/ada" });
  expect(policyOf({}, home).write).toEqual([]);
  expect(policyOf({}, home).read).not.toContain("/home/ada");
  expect(policyOf({ allowWrite: ["/home/ada/out"] }, home).write).toEqual(["/home/ada/out"]);
});

test("D1 a repository that spans the home folder does not open it; one beside the workspace opens its own folder", () => {
  const inside = (git: string) => surveyOf(["/home/ada/app/"], { git: { gitDir: git, commonDir: git } });
  expect(policyOf({}, inside("/home/ada/.git")).write).toEqual(["/home/ada/app"]);
  expect(policyOf({}, inside("/home/ada/repo/.git")).write).toEqual(["/home/ada/app", "/home/ada/repo/.git"]);
});

test("D1 only the trusted files of a repository that exist are protected", () => {
  const git = { gitDir: "/home/ada/repo/.git/worktrees/app", commonDir: "/home/ada/repo/.git" };
  const survey = surveyOf(["/home/ada/app/", "/home/ada/repo/.git/config"], { git });
  expect(at(policyOf({}, survey).protected)).toEqual(["/home/ada/repo/.git/config"]);
});

test("D1 a secret is opened by its own name and not by a folder above it", () => {
  const ssh = (request: Partial<SandboxRequest>) =>
    at(policyOf(request, surveyOf(["/home/ada/", "/home/ada/.ssh/", "/home/ada/app/"])).hidden);
  expect(ssh({ allowRead: ["/home/ada"] })).toEqual(["/home/ada/.ssh"]);
  expect(ssh({ allowRead: ["/home/ada/.ssh"] })).toEqual([]);
});

test("D1 a trusted file is opened by its own name and not by a folder above it", () => {
  expect(at(policyOf({ allowWrite: ["/home/ada/app"] }).protected)).toContain("/home/ada/app/.git/hooks");
  expect(at(policyOf({ allowWrite: ["/home/ada/app/.git/hooks"] }).protected)).not.toContain(
    "/home/ada/app/.git/hooks",
  );
});

test("D1 deny flags win over allow flags, also for whole roots and folders above them", () => {
  for (const folder of ["/home/ada/app", "/home/ada"]) {
    const survey = surveyOf(["/usr/", "/home/ada/", "/home/ada/app/"]);
    const closed = policyOf({ denyWrite: [folder], allowWrite: ["/home/ada/app"] }, survey);
    expect([closed.write, closed.read.includes("/home/ada/app")]).toEqual([[], true]);
    const unseen = policyOf({ denyRead: [folder], allowRead: ["/home/ada/app"] }, survey);
    expect([unseen.write, unseen.read.includes("/home/ada/app")]).toEqual([[], false]);
  }
  expect(at(policyOf({ denyRead: ["/home/ada/.ssh"], allowRead: ["/home/ada/.ssh"] }).hidden)).toContain(
    "/home/ada/.ssh",
  );
});

test("D1 open network drops the demands for none, and a demand by name is must", () => {
  expect(policyOf({ network: "open" })).toMatchObject({
    network: "open",
    demands: expect.not.objectContaining({ "net.blocked": expect.anything() }),
  });
  expect(policyOf({ network: "blocked" }).network).toBe("blocked");
  expect(policyOf({ require: ["fs.protected", "limits"] }).demands).toMatchObject({
    "fs.protected": "must",
    limits: "must",
    "fs.read_hidden": "best",
  });
});

test("D1 every path that a policy may name is asked for, in the caller's words", () => {
  const asked = pathsToSurvey(
    { ...DEFAULT_SANDBOX_REQUEST, allowRead: ["/a"], denyWrite: ["/b"], onlyWrite: ["/c"] },
    "/home/ada/app",
    "/home/ada",
  );
  for (const path of [
    "/a",
    "/b",
    "/c",
    "/usr",
    "/home/ada/.ssh",
    "/home/ada/app/.git/hooks",
    "/etc/shadow",
    "/dev/null",
  ])
    expect(asked).toContain(path);
});
