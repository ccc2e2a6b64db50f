import { describe, expect, test } from "bun:test";
import type { GuardRule } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { DEFAULT_SANDBOX_REQUEST, type SandboxRequest } from "../contract/sandbox_request.ts";
import { EMPTY_POLICY, surveyOf } from "../testing/made_up_machine.ts";
import { guardOf } from "./guard_rules.ts";
import { buildPolicy } from "./policy.ts";

const APP = "/home/ada/app";

/** The guard's matching as the plan describes it, in the plainest way: enough to say what the rules mean. */
function matches({ path, glob, when }: GuardRule, at: string): boolean {
  const places = when === undefined ? parents(at) : [at];
  if (path !== undefined) return places.includes(path);
  const pattern = new Bun.Glob(glob ?? "");
  return places.some((place) => pattern.match(place));
}

function parents(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, end) => parts.slice(0, end + 1).join("/") || "/").slice(1);
}

type Asked = { access?: "read" | "write"; exists?: true; symlink?: true };

function decide(policy: SandboxPolicy, at: string, { access = "write", exists, symlink }: Asked = {}) {
  const rules = guardOf(policy, "namespaces").rules;
  return rules.find(
    (rule) =>
      (rule.access === "both" || rule.access === access) &&
      (rule.when === undefined || (rule.when === "exists" ? exists : symlink)) &&
      matches(rule, at),
  );
}

const effect = (policy: SandboxPolicy, at: string, asked?: Asked) => decide(policy, at, asked)?.effect ?? "kernel";

const policyOf = (asked: Partial<SandboxRequest> = {}, existing: string[] = []) =>
  buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, ...asked }, surveyOf([`${APP}/`, "/usr/", "/home/ada/.ssh/", ...existing]));

describe("trusted files", () => {
  const policy = policyOf();

  test.each([
    [".envrc", "src/.envrc"],
    [".npmrc", "a/b/c/.npmrc"],
    [".husky/pre-commit", "web/.husky/pre-commit"],
    [".github/workflows/ci.yml", "sub/.github/workflows/ci.yml"],
    [".claude/settings.json", "packages/a/.claude/settings.json"],
    [".vscode/tasks.json", "x/.vscode/tasks.json"],
    [".bashrc", "dotfiles/.bashrc"],
    ["my.code-workspace", "sub/my.code-workspace"],
    [".git/hooks/pre-commit", "a/b/c/d/e/f/.git/hooks/pre-commit"],
    [".git/modules/lib/hooks/post-checkout", "a/.git/modules/x/y/hooks/post-checkout"],
    [".git/info/attributes", "deep/.git/info/attributes"],
    [".git/config.worktree", ".git/worktrees/w/config.worktree"],
    [".git/commondir", "nested/.git/commondir"],
  ])("E5 %s can't be made, nor at any depth as %s", (top, deep) => {
    expect([effect(policy, `${APP}/${top}`), effect(policy, `${APP}/${deep}`)]).toEqual(["deny", "deny"]);
    expect(decide(policy, `${APP}/${deep}`)).toMatchObject({ rule: "fs.protected", grant: "--allow-write=" });
  });

  test.each([
    "Makefile",
    "package.json",
    "AGENTS.md",
    "src/main.c",
    ".git/index",
    ".git/refs/heads/main",
    ".git/hooks/pre-commit.sample",
    ".git/worktrees/w/commondir",
    ".git",
    "wt/.git",
    "envrc",
    ".envrc.txt",
    ".github/dependabot.yml",
    "node_modules/left-pad/.npmrc",
    "target/debug/.vscode/x",
    ".venv/lib/python3.12/site-packages/x/.pypirc",
    ".venv/pyvenv.cfg",
  ])("E5 %s is left to the kernel", (name) => {
    expect(["allow", "kernel"]).toContain(effect(policy, `${APP}/${name}`));
  });

  test("E5 git's own configuration goes through the broker, also in repositories that the command makes", () => {
    expect(effect(policy, `${APP}/.git/config`)).toBe("git_config");
    expect(effect(policy, `${APP}/new/.git/config`)).toBe("git_config");
    expect(effect(policy, `${APP}/.git/modules/lib/config`)).toBe("git_config");
    expect(effect(policy, `${APP}/.git/config.lock`)).toBe("kernel");
  });

  test("E5 pointers of worktrees, what git's settings name and links to protected places stay, where no mount holds them", () => {
    const git = { gitDir: `${APP}/.git/worktrees/w`, commonDir: `${APP}/.git` };
    const survey = surveyOf(
      [
        `${APP}/`,
        `${APP}/.git/`,
        `${git.gitDir}/gitdir`,
        `${git.gitDir}/commondir`,
        `${APP}/.git/config`,
        `${APP}/shared`,
      ],
      {
        git,
        gitSettings: ["shared", "absent"].map((name) => ({ path: `${APP}/${name}`, reason: "git's settings name it" })),
        links: [`${APP}/link`],
      },
    );
    const named = buildPolicy(DEFAULT_SANDBOX_REQUEST, survey);
    for (const name of [".git/worktrees/w/gitdir", ".git/worktrees/w/commondir", "shared", "absent", "link"])
      expect([name, effect(named, `${APP}/${name}`)]).toEqual([name, "deny"]);
    expect(effect(named, `${APP}/.git/worktrees/new/gitdir`)).toBe("kernel");
    const opened = buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, trustFiles: "allow" }, survey);
    for (const name of ["shared", "absent", "link"]) expect(effect(opened, `${APP}/${name}`)).toBe("kernel");
  });

  test("E5 a repository in a folder of dependencies has no new hooks either", () => {
    expect(effect(policy, `${APP}/node_modules/x/.git/hooks/pre-commit`)).toBe("deny");
  });

  test("E5 a .git file and a pyvenv.cfg may be made and not changed, and no symlink stands for git's folders", () => {
    for (const name of [".git", "wt/.git", ".venv/pyvenv.cfg"]) {
      expect(effect(policy, `${APP}/${name}`, { exists: true })).toBe("deny");
      expect(effect(policy, `${APP}/${name}`)).toBe("kernel");
    }
    for (const name of [".git", ".git/hooks", ".git/info", "sub/.git"])
      expect(effect(policy, `${APP}/${name}`, { symlink: true })).toBe("deny");
    expect(effect(policy, `${APP}/.git/index`, { exists: true })).toBe("kernel");
  });

  test("E5 a repository's folder outside the workspace is guarded by its own place", () => {
    const git = { gitDir: "/repo/.git/worktrees/w", commonDir: "/repo/.git" };
    const beside = buildPolicy(DEFAULT_SANDBOX_REQUEST, surveyOf([`${APP}/`, "/repo/.git/"], { git }));
    expect(effect(beside, "/repo/.git/hooks/pre-commit")).toBe("deny");
    expect(effect(beside, "/repo/.git/config")).toBe("git_config");
    expect(effect(beside, "/repo/.git/index")).toBe("kernel");
  });

  test("E5 report lists work files too and refuses nothing but cordon's own policy; allow says nothing", () => {
    const report = policyOf({ trustFiles: "report" });
    for (const name of [".envrc", "Makefile", "sub/package.json", ".git/hooks/pre-commit", ".git/config"])
      expect([name, effect(report, `${APP}/${name}`)]).toEqual([name, "report"]);
    expect(effect(report, `${APP}/node_modules/x/package.json`)).toBe("allow");
    const allow = policyOf({ trustFiles: "allow" });
    expect(effect(allow, `${APP}/.envrc`)).toBe("kernel");
    for (const policy of [report, allow]) expect(effect(policy, `${APP}/.cordon/config.json`)).toBe("deny");
    expect([guardOf(report, "landlock").gitLayout, guardOf(policyOf(), "landlock").gitLayout]).toEqual([false, true]);
  });

  test("E5 a flag opens exactly what it names, there or not, and nothing beside it", () => {
    const policy = policyOf({ allowWrite: [`${APP}/.envrc`, `${APP}/.git/hooks`, `${APP}/**/.npmrc`] });
    for (const name of [".envrc", ".git/hooks/pre-commit", "a/b/.npmrc"])
      expect([name, effect(policy, `${APP}/${name}`)]).toEqual([name, "allow"]);
    for (const name of ["sub/.envrc", "sub/.git/hooks/x", ".husky/x"])
      expect([name, effect(policy, `${APP}/${name}`)]).toEqual([name, "deny"]);
    expect(effect(policyOf({ allowWrite: [APP] }), `${APP}/.envrc`)).toBe("deny");
  });

  test("E5 a workspace below a folder of such a name is not opened by it", () => {
    const inside = surveyOf(["/srv/.claude/app/"], { workspace: "/srv/.claude/app" });
    const policy = buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, allowWrite: ["/srv/.claude/app"] }, inside);
    expect(effect(policy, "/srv/.claude/app/.envrc")).toBe("deny");
    expect(effect(policy, "/srv/.claude/app/main.c")).toBe("kernel");
  });
});

describe("secrets", () => {
  const unseen = (asked: Partial<SandboxRequest> = {}, existing: string[] = []) =>
    buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, ...asked }, surveyOf([`${APP}/`, ...existing], { secretsUnseen: true }));

  test("D10 where not all was looked through, names of secrets are hidden at any depth, samples and dependencies are not", () => {
    const policy = unseen();
    for (const name of [".env", "a/b/.env", "x/.env.local", "deep/er/id_ed25519"]) {
      expect(effect(policy, `${APP}/${name}`, { access: "read" })).toBe("deny");
      expect(effect(policy, `${APP}/${name}`, { exists: true })).toBe("deny");
      expect(effect(policy, `${APP}/${name}`)).toBe("kernel");
    }
    for (const name of [".env.example", "a/.env.local.sample", "node_modules/x/.env", "env", "main.c"])
      expect(["allow", "kernel"]).toContain(effect(policy, `${APP}/${name}`, { access: "read" }));
  });

  test("D10 where all was looked through, what is there is hidden and what is made under such a name is the command's", () => {
    const survey = surveyOf([`${APP}/`], { secretFiles: [`${APP}/a/b/.env`] });
    const policy = buildPolicy(DEFAULT_SANDBOX_REQUEST, survey);
    expect(effect(policy, `${APP}/a/b/.env`, { access: "read" })).toBe("deny");
    expect(effect(policy, `${APP}/a/b/.env`)).toBe("deny");
    for (const access of ["read", "write"] as const)
      expect(effect(policy, `${APP}/.env`, { access, exists: true })).toBe("kernel");
    // A folder that was not looked through keeps its names.
    const beside = buildPolicy({ ...DEFAULT_SANDBOX_REQUEST, allowRead: ["/srv/x"] }, surveyOf([`${APP}/`, "/srv/x/"]));
    expect(effect(beside, "/srv/x/.env", { access: "read" })).toBe("deny");
  });

  test("D10 a secret is opened by its own name", () => {
    const policy = unseen({ allowRead: [`${APP}/.env`, "/home/ada/.ssh/known_hosts"] }, [
      `${APP}/.env`,
      "/home/ada/.ssh/",
      "/home/ada/.ssh/known_hosts",
    ]);
    expect(effect(policy, `${APP}/.env`, { access: "read" })).toBe("allow");
    expect(effect(policy, `${APP}/b/.env`, { access: "read" })).toBe("deny");
    expect(effect(policy, "/home/ada/.ssh/known_hosts", { access: "read" })).toBe("allow");
    expect(decide(policy, "/home/ada/.ssh/id_rsa", { access: "read" })).toMatchObject({
      reason: "hidden: private keys",
    });
  });

  test("D10 every open is looked at only where nothing else hides what is there", () => {
    const reads = (asked: Partial<SandboxRequest>, tier: "namespaces" | "landlock", existing: string[] = []) =>
      guardOf(policyOf(asked, existing), tier).reads;
    expect([reads({}, "namespaces"), reads({}, "landlock")]).toEqual([false, false]);
    expect(reads({ denyRead: [`${APP}/x`] }, "namespaces", [`${APP}/x`])).toBe(false);
    expect(reads({ denyRead: [`${APP}/x`] }, "landlock", [`${APP}/x`])).toBe(true);
    for (const asked of [{ denyRead: [`${APP}/*.pem`] }, { denyRead: [`${APP}/new`] }, { reportReads: true }])
      expect([reads(asked, "namespaces"), reads(asked, "landlock")]).toEqual([true, true]);
  });
});

describe("flags", () => {
  test("A15 deny beats allow, and holds for names and patterns that come later", () => {
    const policy = policyOf({
      denyWrite: [`${APP}/**/*.lock`, `${APP}/new`],
      denyRead: [`${APP}/keys`],
      allowWrite: [`${APP}/new`],
    });
    for (const name of ["a.lock", "b/c.lock", "new", "new/x", "keys/k"])
      expect([name, effect(policy, `${APP}/${name}`)]).toEqual([name, "deny"]);
    expect(effect(policy, `${APP}/keys/k`, { access: "read" })).toBe("deny");
    expect(effect(policy, `${APP}/a.lock`, { access: "read" })).toBe("kernel");
    expect(decide(policy, `${APP}/a.lock`)).toMatchObject({ reason: "--deny-write", rule: "fs.protected" });
    expect(decide(policy, `${APP}/a.lock`)?.grant).toBeUndefined();
  });

  test("A15 a pattern opens its leading folder for what it names alone", () => {
    const policy = policyOf({ allowWrite: ["/data/**/*.log"] }, ["/data/"]);
    expect(policy.write).toContain("/data");
    expect(effect(policy, "/data/a/b.log")).toBe("allow");
    expect(effect(policy, "/data/a/b.txt")).toBe("deny");
    const whole = policyOf({ allowWrite: ["/data", "/data/*.log"] }, ["/data/"]);
    expect(effect(whole, "/data/a/b.txt")).toBe("kernel");
    const above = policyOf({ allowWrite: ["/home/ada/*.log"] }, ["/home/ada/"]);
    expect(effect(above, "/home/ada/x.log")).toBe("allow");
    expect([effect(above, "/home/ada/x.txt"), effect(above, `${APP}/x.txt`)]).toEqual(["deny", "allow"]);
    expect(effect(above, `${APP}/.envrc`)).toBe("deny");
  });

  test.each([
    "/home/ada/my app",
    "/home/ada/a[b]{c}*?",
    "/home/ada/ünï",
    "/home/ada/line\nbreak",
    "/home/ada/back\\slash",
  ])("A15 a root of any name, %j, is itself and no pattern", (root) => {
    const policy = { ...EMPTY_POLICY, write: [root] };
    expect(effect(policy, `${root}/sub/.envrc`)).toBe("deny");
    expect(effect(policy, `${root}/main.c`)).toBe("kernel");
  });
});
