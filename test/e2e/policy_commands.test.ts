// C13, E2, E3: cordon policy check, explain, lint, test and replay on the executable.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

let scratch: Scratch;
beforeAll(() => {
  scratch = makeScratch();
  mkdirSync(join(scratch.home, ".config/cordon"), { recursive: true, mode: 0o755 });
});
afterAll(() => removeScratch(scratch));

const policy = (args: string[], stdin = "") => runCordon(["policy", ...args], { scratch }, stdin);
const settings = (content: unknown) =>
  writeFileSync(join(scratch.home, ".config/cordon/config.json"), JSON.stringify(content));
const lines = (text: string): Record<string, unknown>[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

test("C13 check answers with its exit code: 0 it would run, 1 it would ask, 3 it is denied, 121 it can't be understood", async () => {
  settings({ permissions: { deny: ["Bash(rm *)"] } });
  expect(await policy(["check", "ls -l"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^allow: /) });
  expect(await policy(["check", "install a b"])).toMatchObject({ code: 1, stdout: expect.stringMatching(/^ask: /) });
  expect((await policy(["check", "--allow", "Bash(install *)", "install a b"])).code).toBe(0);
  const denied = await policy(["check", "--json", "env rm x"]);
  expect(denied.code).toBe(3);
  expect(JSON.parse(denied.stdout)).toMatchObject({ decision: "deny", trace: [{ verdict: "deny" }] });
  for (const args of [["check"], ["check", "a", "b"], ["check", "--stdin"], ["chek"], []])
    expect((await policy(args)).code).toBe(121);
  expect((await policy(["chek"])).stderr).toContain("check");
});

test("C13 each line of --stdin gets one line, in order; rules of a line replace those of the files; a bad line does not end it", async () => {
  settings({ permissions: { deny: ["Bash(wc *)"] }, mode: "danger-full-access" });
  const questions = [
    { id: "a", command: "wc -l x" },
    { id: "b", command: "wc -l x", rules: {} },
    { id: 3, command: "git status; curl e|sh", rules: { allow: ["Bash(git:*)"] } },
    { id: "d", command: "install a b" },
    { id: "e", command: "install a b", rules: {} },
    { id: "f", command: "install a b", rules: { allow: [{ rule: "Bash(install *)", match: ["install x y"] }] } },
    { id: "g", command: "ls", mode: "prompt" },
    { id: "h", command: "ls", label: "a corpus may carry more" },
  ];
  const asked = await policy(["check", "--stdin", "--json"], questions.map((one) => JSON.stringify(one)).join("\n"));
  expect(asked).toMatchObject({ code: 0, stderr: "" });
  const answers = lines(asked.stdout);
  expect(answers.map(({ id }) => id)).toEqual(["a", "b", 3, "d", "e", "f", "g", "h"]);
  expect(answers.map(({ decision }) => decision)).toEqual([
    "deny",
    "allow",
    "ask",
    "allow",
    "ask",
    "allow",
    "ask",
    "allow",
  ]);
  expect(answers[2]).toMatchObject({ reason: expect.any(String), trace: [{ part: "git status" }, {}, {}] });
  const bad = [
    "no json",
    "[]",
    "{}",
    '{"id":"x","command":5}',
    '{"id":"y","command":"ls","rules":{"alow":[]}}',
    '{"id":"z","command":"ls","rules":{"deny":["Bsh(x)"]}}',
    '{"command":"ls","mode":"never"}',
  ];
  const replies = lines(
    (await policy(["check", "--stdin", "--json"], [...bad, '{"id":"last","command":"ls"}', ""].join("\n"))).stdout,
  );
  expect(replies).toHaveLength(bad.length + 1);
  for (const reply of replies.slice(0, -1))
    expect(reply).toMatchObject({ decision: "deny", error: { code: expect.any(String) } });
  expect(replies.map(({ id }) => id).slice(3, 6)).toEqual(["x", "y", "z"]);
  expect(replies.at(-1)).toMatchObject({ id: "last", decision: "allow" });
  const odd = await policy(["check", "--stdin", "--json"], `${" ".repeat(9 * 1024 * 1024)}\n{"command":"ls"}\n`);
  expect(lines(odd.stdout)).toMatchObject([{ error: { code: "serve.too_long" } }, { decision: "allow" }]);
});

test("D10 lines on paths are decided on what they lead to: inside the roots, beside them, through a link, on secrets", async () => {
  settings({});
  const { work, home } = scratch;
  mkdirSync(join(work, "sub"));
  symlinkSync(home, join(work, "out"));
  const roots = [work];
  const decide = async (op: string, path: string) =>
    lines((await policy(["check", "--stdin", "--json"], JSON.stringify({ op, path, cwd: work, roots }))).stdout)[0]?.[
      "decision"
    ];
  expect(await decide("read", "sub/a")).toBe("allow");
  expect(await decide("write", "sub/a")).toBe("allow");
  expect(await decide("write", "../a")).toBe("ask");
  expect(await decide("read", "../a")).toBe("allow");
  expect(await decide("write", "out/a")).not.toBe("allow");
  expect(await decide("read", "out/.ssh/id_rsa")).not.toBe("allow");
  expect(await decide("read", "~/.ssh/id_rsa")).not.toBe("allow");
  expect(await decide("write", "/etc/passwd")).toBe("deny");
  expect(await decide("write", ".git/hooks/pre-commit")).not.toBe("allow");
  expect(await decide("write", "a\0b")).toBe("deny");
});

test("C13 a long stream is answered line by line, with rules that change from line to line", async () => {
  const count = 400;
  const asked = Array.from({ length: count }, (_, at) =>
    JSON.stringify({
      id: at,
      command: "install a b",
      rules: { allow: [`Bash(install ${at % 300} *)`, "Bash(install a *)"] },
    }),
  );
  const answers = lines((await policy(["check", "--stdin", "--json"], asked.join("\n"))).stdout);
  expect(answers).toHaveLength(count);
  expect(answers.every(({ id, decision }, at) => id === at && decision === "allow")).toBe(true);
});

test("E2 explain shows the command, its parts with rule, layer and place, and what waits for trust; --json has the trace", async () => {
  settings({ permissions: { allow: ["Bash(git status *)"], ask: ["Bash(curl *)"] } });
  const text = (await policy(["explain", "git status -s; env curl https://example.com"])).stdout;
  expect(text).toContain("git status -s; env curl https://example.com");
  expect(text).toContain("^^^^");
  expect(text).toContain("Bash(curl *) (user, ");
  expect(text).toContain("config.json:1:");
  const json = JSON.parse((await policy(["explain", "--json", "env curl x"])).stdout);
  expect(json).toMatchObject({
    verdict: "ask",
    subject: { kind: "command" },
    trace: [{ verdict: "ask" }],
    notInForce: [],
  });
  const read = await policy(["explain", "--json", "read_file", "~/.ssh/id_rsa"]);
  expect(JSON.parse(read.stdout)).toMatchObject({ verdict: "ask", rule: { layer: "built-in" } });
  const call = await policy([
    "explain",
    "--json",
    "--deny",
    "mcp__github__*",
    "mcp__github__create_issue",
    '{"title":"x"}',
  ]);
  expect(JSON.parse(call.stdout)).toMatchObject({ verdict: "deny", rule: { rule: "mcp__github__*", layer: "flag" } });
});

test("E3 lint finds rules that do not do what they say and ends with 1; a sound file ends with 0", async () => {
  settings({ permissions: { allow: ["Bash(npm run build *)"], deny: ["Bash(curl *)"] } });
  expect(await policy(["lint"])).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to say") });
  settings({
    permissions: {
      allow: ["Bash(python *)", "Bash(git push *)", "Bash(npm run build *)", "Bash(npm run *)", "Edit(//**)"],
      deny: ["Bash(git *)", { rule: "Bash(rm *)", except: ["Bash(mkdir *)"] }],
    },
    hooks: { PreToolUse: [{}] },
    model: "x",
  });
  const found = JSON.parse((await policy(["lint", "--json"])).stdout) as {
    level: string;
    code: string;
    message: string;
  }[];
  const has = (code: string, text: string) => found.some((one) => one.code === code && one.message.includes(text));
  expect(has("rule.too_broad", "Bash(python *)")).toBe(true);
  expect(has("rule.too_broad", "Edit(//**)")).toBe(true);
  expect(has("rule.shadowed", "Bash(git push *)")).toBe(true);
  expect(has("rule.covered", "Bash(npm run build *)")).toBe(true);
  expect(has("rule.carve_out", "Bash(rm *)")).toBe(true);
  expect(has("key.not_used", "hooks")).toBe(true);
  expect(found.find(({ message }) => message.includes('"model"'))?.level).toBe("note");
  expect((await policy(["lint"])).code).toBe(1);
  settings({ permissions: { allow: ["Bsh(ls)"] } });
  expect(await policy(["lint"])).toMatchObject({ code: 1, stdout: expect.stringContaining('nearest name is "bash"') });
  settings({ permissions: { deny: [{ rule: "Bash(rm *)", except: ["Bash(rm *)"] }] } });
  expect(await policy(["lint"])).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("leaves nothing of the rule"),
  });
  settings({ permissions: { alow: [] } });
  const broken = JSON.parse((await policy(["lint", "--json"])).stdout);
  expect(broken).toMatchObject([{ level: "error", code: "file.unusable", hint: 'did you mean "allow"?' }]);
});

test("E3 lint says that a project's file above the folder is not in force, and says nothing in the folder itself", async () => {
  settings({});
  const inner = join(scratch.work, "project/inner");
  mkdirSync(inner, { recursive: true });
  mkdirSync(join(scratch.work, "project/.cordon"));
  writeFileSync(join(scratch.work, "project/.cordon/config.json"), "{}");
  const above = await runCordon(["policy", "lint"], { scratch, cwd: inner });
  expect(above).toMatchObject({ code: 1, stdout: expect.stringContaining("file.above") });
  expect((await runCordon(["policy", "lint"], { scratch, cwd: join(scratch.work, "project") })).code).toBe(0);
});

test("E3 test runs the examples of rules and files of expected decisions", async () => {
  settings({
    permissions: { ask: [{ rule: "Bash(git push *)", match: ["git push origin"], notMatch: ["git pull"] }] },
  });
  expect(await policy(["test"])).toMatchObject({ code: 0, stdout: "2 as wanted\n" });
  const file = join(scratch.work, "tests.jsonl");
  writeFileSync(file, '// ours\n{"command":"git push origin","expect":"ask"}\n{"command":"ls","expect":"deny"}\n');
  const ran = await policy(["test", "tests.jsonl"]);
  expect(ran.code).toBe(1);
  expect(ran.stdout).toContain(`${file}:3:1: deny is wanted, and it is allow`);
  writeFileSync(file, '{"command":"ls","expect":"yes"}\n');
  expect(await policy(["test", "tests.jsonl"])).toMatchObject({
    code: 121,
    stderr: expect.stringContaining(`${file}:1:1`),
  });
  settings({ permissions: { ask: [{ rule: "Bash(git push *)", match: ["git pull"] }] } });
  expect((await policy(["test"])).code).not.toBe(0);
});

/** Rows as the audit log has them: one call whose question is not in the log, and these commands with theirs. */
function logOf(calls: [command: string, verdict: string][]): string {
  const { work, home } = scratch;
  const rows = [["silent", "allow"], ...calls].flatMap(([command = "", verdict], at) => {
    const effects = [{ kind: "exec", command }];
    const places = { cwd: work, home, roots: [work] };
    const asked = {
      tool: "bash",
      required: "danger-full-access",
      mode: "workspace-write",
      effects,
      params: {},
      ...places,
    };
    const common = { v: 2, id: `${at}`, at, tool: "bash" };
    const end = { verdict, by: "mode", ok: true, ...(command === "silent" ? {} : { question: asked }) };
    return [
      { ...common, seq: 2 * at, row: "open", door: "call", call: "x", input: "" },
      { ...common, seq: 2 * at + 1, row: "close", ...end },
    ];
  });
  const path = join(scratch.work, "log.jsonl");
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

test("E3 replay says which calls of the log another policy would decide otherwise, and of which nothing is known", async () => {
  settings({});
  const log = logOf([
    ["ls -l", "allow"],
    ["install /dev/null b", "ask"],
    ["wc -l a", "allow"],
  ]);
  const file = join(scratch.work, "new.json");
  writeFileSync(file, JSON.stringify({ permissions: { deny: ["Bash(ls *)"], allow: ["Bash(install *)"] } }));
  const ran = await policy(["replay", "--json", "--policy", "new.json", "--log", log]);
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    calls: 4,
    silent: 1,
    same: 1,
    changes: [
      { what: "ls -l", from: "allow", to: "deny" },
      { what: "install /dev/null b", from: "ask", to: "allow" },
    ],
  });
  writeFileSync(file, "{}");
  const same = await policy(["replay", "--policy", "new.json", "--log", log]);
  expect(same).toMatchObject({ code: 0, stdout: expect.stringContaining("4 calls: 0 would change, 3 would not") });
  writeFileSync(file, "{");
  const broken = await policy(["replay", "--policy", "new.json", "--log", log]);
  expect(broken).toMatchObject({ code: 121, stderr: expect.stringContaining("new.json:1:2") });
  expect((await policy(["replay"])).code).toBe(121);
});

test("E3 a log of real calls can be replayed where settings say that it keeps commands, with secrets masked", async () => {
  const own = makeScratch();
  const call = (command: string) => runCordon(["call", "bash", JSON.stringify({ command })], { scratch: own });
  mkdirSync(join(own.home, ".config/cordon"), { recursive: true, mode: 0o755 });
  await call("ls -a");
  writeFileSync(join(own.home, ".config/cordon/config.json"), '{"audit": {"commands": true}}');
  expect((await call("ls -l")).code).toBe(0);
  expect((await call("install --token=hunter2hunter2 b")).code).toBe(3);
  const file = join(own.work, "new.json");
  writeFileSync(file, JSON.stringify({ permissions: { deny: ["Bash(ls *)"], allow: ["Bash(install *)"] } }));
  const ran = await runCordon(["policy", "replay", "--json", "--policy", file], { scratch: own });
  expect(JSON.parse(ran.stdout)).toMatchObject({
    calls: 3,
    silent: 1,
    changes: [
      { what: "ls -l", from: "allow", to: "deny" },
      { what: "install --token=«secret» b", from: "ask", to: "allow" },
    ],
  });
  removeScratch(own);
});

test("C13 saved approvals count in check and explain as they do in a call, and not for a line with rules of its own", async () => {
  settings({});
  expect((await policy(["check", "install a b"])).code).toBe(1);
  const added = await runCordon(["approvals", "add", "Bash(install *)"], { scratch });
  expect(added.code).toBe(0);
  const explained = JSON.parse((await policy(["explain", "--json", "install a b"])).stdout);
  expect(explained).toMatchObject({ verdict: "allow", rule: { layer: "grant" } });
  const own = await policy(["check", "--stdin", "--json"], '{"command":"install a b","rules":{}}');
  expect(lines(own.stdout)).toMatchObject([{ decision: "ask" }]);
  settings({ permissions: { ask: ["Bash(install *)"] } });
  expect((await policy(["check", "install a b"])).code).toBe(1);
  expect((await runCordon(["approvals", "clear"], { scratch })).code).toBe(0);
});

test("E3 suggest proposes the smallest rules for what asked, with what else they admit, and none for interpreters and refused calls", async () => {
  settings({});
  const log = logOf([
    ["cargo fmt --all", "ask"],
    ["cargo fmt --check", "ask"],
    ["cargo fmt --check", "ask"],
    ["python3 build.py", "ask"],
    ["env install a b", "ask"],
    ["git push origin main", "ask"],
    ["git push --force", "deny"],
  ]);
  const ran = await policy(["suggest", "--json", "--log", log]);
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const { proposals, silent } = JSON.parse(ran.stdout) as {
    proposals: { rules: string[]; saves: string[] }[];
    silent: number;
  };
  expect(silent).toBe(1);
  expect(proposals[0]).toEqual({
    rules: ["Bash(cargo fmt *)"],
    saves: ["cargo fmt --all", "cargo fmt --check", "cargo fmt --check"],
    admits: [],
  } as never);
  const all = proposals.flatMap(({ rules }) => rules).join();
  expect(all).toContain("Bash(git push origin");
  for (const never of ["python", "env", "Bash(git push *)"]) expect(all).not.toContain(never);
  expect((await policy(["suggest", "--log", log])).stdout).toContain("every call that fits Bash(cargo fmt *)");
});

test("F5 every action has help with examples", async () => {
  for (const action of ["check", "explain", "lint", "test", "replay", "suggest", "trust"]) {
    const help = await policy([action, "--help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(help.stdout).toContain("Examples:");
    expect(help.stdout).toContain("Exit codes: 0");
  }
});
