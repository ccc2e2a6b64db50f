import { expect, test } from "bun:test";
import type { ObservedDenial } from "../contract/enforced.ts";
import type { LinuxPlan } from "../contract/plan.ts";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { EMPTY_POLICY } from "../testing/made_up_machine.ts";
import { explainDenial, guessHiddenRead } from "./explain_denial.ts";

const policy: SandboxPolicy = {
  ...EMPTY_POLICY,
  read: ["/usr"],
  write: ["/home/ada/app"],
  hidden: [{ path: "/home/ada/.ssh", folder: true, reason: "private keys" }],
  protected: [
    { path: "/home/ada/app/.git/hooks", reason: "git runs these on the host" },
    { path: "/home/ada/app/kept", reason: "--deny-write", asked: true },
  ],
};
const plan = (reads: boolean): LinuxPlan => {
  const guard = { rules: [], gitLayout: true, metadata: false, reads, unix: [] };
  const command = { argv: ["x"], cwd: "/", env: {} };
  return { version: 1, tier: "landlock", command, asked: {}, ops: [{ op: "broker", guard, level: "must", gives: [] }] };
};
const wrote = (path: string): ObservedDenial => ({
  op: "write",
  path,
  syscall: "openat",
  pid: 7,
  rule: "fs.write_confined",
});
const connected = (parts: Partial<ObservedDenial>): ObservedDenial => ({
  op: "connect",
  syscall: "connect",
  pid: 7,
  rule: "net.blocked",
  ...parts,
});
const grantOf = (seen: ObservedDenial) => explainDenial(seen, policy, { at: 5, existing: (path) => path }).grant;

test("A25 a refused write says where, why and which flag would have allowed it", () => {
  expect(
    explainDenial({ ...wrote("/home/ada/.bashrc"), exe: "/bin/bash" }, policy, { at: 5, existing: (path) => path }),
  ).toEqual({
    at: 5,
    op: "write",
    path: "/home/ada/.bashrc",
    syscall: "openat",
    pid: 7,
    exe: "/bin/bash",
    rule: "fs.write_confined",
    reason: "outside what the command may write",
    grant: "--allow-write=/home/ada/.bashrc",
  });
});

test("A25 a protected file names its rule, and the flag opens the whole of what is protected", () => {
  expect(
    explainDenial(wrote("/home/ada/app/.git/hooks/pre-commit"), policy, { at: 5, existing: (path) => path }),
  ).toMatchObject({
    reason: "protected: git runs these on the host",
    grant: "--allow-write=/home/ada/app/.git/hooks",
  });
  expect(grantOf(wrote("/home/ada/app/.git/hooks2"))).toBe("--allow-write=/home/ada/app/.git/hooks2");
});

test("A25 no flag is named where none would help", () => {
  expect(grantOf(wrote("/home/ada/.ssh/config"))).toBeUndefined();
  expect(grantOf(wrote("/home/ada/app/kept/x"))).toBeUndefined();
  // The allowed twin: a socket of the host has a flag of its own.
  expect(grantOf(connected({ path: "/run/docker.sock" }))).toBe("--allow-unix=/run/docker.sock");
});

test("A25 a refused connection names host and port, and the host's loopback has its own reason", () => {
  expect(
    explainDenial(connected({ host: "10.0.0.1", port: 80 }), policy, { at: 5, existing: (path) => path }),
  ).toMatchObject({
    host: "10.0.0.1:80",
    reason: "the network is blocked",
    grant: "--allow-net",
  });
  expect(
    explainDenial(connected({ host: "::1", port: 80 }), policy, { at: 5, existing: (path) => path }),
  ).toMatchObject({
    host: "[::1]:80",
    reason: expect.stringContaining("loopback"),
  });
  expect(
    explainDenial(connected({ host: "127.0.0.1", port: 80 }), policy, { at: 5, existing: (path) => path }),
  ).toMatchObject({
    reason: expect.stringContaining("loopback"),
  });
  expect(explainDenial(connected({}), policy, { at: 5, existing: (path) => path })).toMatchObject({
    host: "the network",
  });
});

test("A25 a flag can be pasted into a shell, whatever is in the path", () => {
  for (const path of [
    "/tmp/a b",
    "/tmp/it's",
    "/tmp/$(id)",
    "/tmp/`id`",
    "/tmp/a;b",
    "/tmp/*",
    "/tmp/ä",
    "/tmp/a\nb",
    "/tmp/plain-1.txt",
  ]) {
    const shell = Bun.spawnSync(["sh", "-c", `printf %s ${grantOf(wrote(path))}`], { timeout: 10_000 });
    expect(shell.stdout.toString()).toBe(`--allow-write=${path}`);
  }
  expect(grantOf(wrote("/tmp/plain-1.txt"))).toBe("--allow-write=/tmp/plain-1.txt");
});

test("A25 a guess says that it is one, and there is none where nothing is hidden", () => {
  expect(guessHiddenRead(policy, plan(false), 5)).toMatchObject({
    op: "read",
    guess: true,
    reason: expect.stringContaining("/home/ada/.ssh"),
  });
  expect(guessHiddenRead({ ...policy, hidden: [] }, plan(false), 5)).toBeNull();
});

test("A25 what the launcher has explained already is told as it is", () => {
  const limit: ObservedDenial = {
    op: "limit",
    syscall: "clone",
    pid: 7,
    rule: "limits",
    reason: "full",
    grant: "--pids",
  };
  expect(explainDenial(limit, policy, { at: 5, existing: (path) => path })).toEqual({
    at: 5,
    op: "limit",
    syscall: "clone",
    pid: 7,
    rule: "limits",
    reason: "full",
    grant: "--pids",
  });
  const rule: ObservedDenial = { ...wrote("/home/ada/app/.git/hooks/x"), reason: "git runs these", grant: "--flag" };
  expect(explainDenial(rule, policy, { at: 5, existing: (path) => path })).toMatchObject({
    path: "/home/ada/app/.git/hooks/x",
    reason: "git runs these",
    grant: "--flag",
  });
});

test("A25 no guess is made where every open was looked at", () => {
  expect(guessHiddenRead(policy, plan(true), 5)).toBeNull();
});

test("A25 a flag of a rule is completed with the path, in words that a shell reads back", () => {
  const grantFor = (path: string) => grantOf({ ...wrote(path), reason: "protected: a test", grant: "--allow-write=" });
  expect(grantFor("/home/ada/app/.envrc")).toBe("--allow-write=/home/ada/app/.envrc");
  expect(grantFor("/home/ada/my app/.envrc")).toBe("'--allow-write=/home/ada/my app/.envrc'");
  expect(grantOf({ ...wrote("/x"), reason: "--deny-write" })).toBeUndefined();
});

test("A25 a refused read, socket or program says why and which flag would have allowed it", () => {
  const seen = (op: "read" | "exec", path: string) =>
    explainDenial({ ...wrote(path), op }, policy, { at: 5, existing: (name) => name });
  expect(seen("read", "/home/ada/.ssh/id_rsa")).toMatchObject({
    reason: "hidden: private keys",
    grant: "--allow-read=/home/ada/.ssh/id_rsa",
  });
  expect(seen("read", "/data/x")).toMatchObject({
    reason: "outside what the command may read",
    grant: "--allow-read=/data/x",
  });
  expect(seen("exec", "/data/tool")).toMatchObject({ op: "exec", grant: "--allow-read=/data/tool" });
  expect(grantOf(connected({ path: "/run/docker.sock" }))).toBe("--allow-unix=/run/docker.sock");
});
