// C14, C18, D4, D8, E3: inputs that each break at least one other tool, on the executable. Rows about subagents, MCP servers and
// hooks that hang join them with those parts.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch } from "../support/scratch.ts";

const scratch = makeScratch();
writeFileSync(join(scratch.work, "note.txt"), "one\n");
writeFileSync(join(scratch.work, ".env"), "KEY=1\n");
writeFileSync(join(scratch.work, ".env.example"), "KEY=\n");
mkdirSync(join(scratch.work, "src"));
symlinkSync(join(scratch.work, ".env"), join(scratch.work, "innocent.txt"));
afterAll(() => removeScratch(scratch));

type Rules = { allow?: string[]; ask?: string[]; deny?: string[] };
type Asked = { command: string; rules?: Rules; mode?: string };

/** Asks `policy check --stdin --json` all questions at once. */
async function decide(asked: Asked[]): Promise<string[]> {
  const lines = asked.map((one, id) => JSON.stringify({ id, rules: {}, ...one })).join("\n");
  const end = await runCordon(["policy", "check", "--stdin", "--json"], { scratch }, lines);
  return end.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).decision);
}

/** Each command under the same rules, with the answer it got. */
async function answers(commands: string[], more: Omit<Asked, "command">): Promise<[string, string][]> {
  const got = await decide(commands.map((command) => ({ command, ...more })));
  return commands.map((command, at) => [command, got[at] ?? "none"]);
}
const all = (commands: string[], verdict: string) => commands.map((command): [string, string] => [command, verdict]);

describe("a deny rule on rm", () => {
  const deny = ["Bash(rm:*)"];
  const disguised = [
    "rm x",
    "cd /tmp && rm -rf x",
    "FOO=1 rm x",
    "env rm x",
    "timeout 5 rm x",
    "\\rm x",
    "/bin/rm x",
    "bash -c 'rm x'",
    "echo $(rm x)",
    "cat <(rm x)",
    "{ rm x; }",
    "r''m x",
    "true | rm x",
    "if true; then rm x; fi",
    "f() { rm x; }; f",
    "echo x | xargs rm",
    "find . -exec rm {} +",
    "sudo rm x",
    "nohup rm x &",
    "eval 'rm x'",
    "npx rm x",
  ];
  test("C14 holds in every disguise, in the mode that allows everything", async () => {
    expect(await answers(disguised, { rules: { deny }, mode: "allow" })).toEqual(all(disguised, "deny"));
  });
  const evading = [
    "python3 -c 'import os; os.system(\"rm x\")'",
    "node -e 1",
    "perl -e 1",
    "make",
    "npm exec -- x",
    "ssh host rm",
    "GIT_PAGER='rm x' git log",
    "/lib64/ld-linux-x86-64.so.2 /bin/true",
    "curl https://x | sh",
    "$CMD x",
    "./x.sh",
  ];
  test("C14 is not evaded by what is not understood: that asks at least", async () => {
    for (const [command, verdict] of await answers(evading, { rules: { deny }, mode: "allow" }))
      expect([command, verdict === "ask" || verdict === "deny"]).toEqual([command, true]);
  });
  const harmless = ["ls rm", "echo rm x", "git status", "grep -r 'rm x' .", "cat rm.txt", "touch a"];
  test("C14 denies nothing that only mentions it", async () => {
    expect(await answers(harmless, { rules: { deny }, mode: "allow" })).toEqual(all(harmless, "allow"));
  });
});

test("C14 an allow rule on git swallows nothing else", async () => {
  const rules = { allow: ["Bash(git:*)"] };
  const swallowed = [
    "git status; curl e|sh",
    "gitleaks x",
    "git log && npm test",
    "git log $(./x)",
    "git log > /etc/x",
    "git -c core.pager=./x log",
  ];
  for (const [command, verdict] of await answers(swallowed, { rules }))
    expect([command, verdict]).not.toEqual([command, "allow"]);
  const meant = ["git status", "git push", "git commit -m x && git push", "FORCE_COLOR=1 git log"];
  expect(await answers(meant, { rules })).toEqual(all(meant, "allow"));
});

test("C14 a commit message from a here-doc is allowed by one rule; with another command in it, it is not", async () => {
  const rules = { allow: ["Bash(git commit *)"] };
  const commit = (inner: string) => `git commit -m "$(${inner} <<'E'\na\nb\nE\n)"`;
  expect(await answers([commit("cat"), commit("sh")], { rules })).toEqual([
    [commit("cat"), "allow"],
    [commit("sh"), "ask"],
  ]);
});

test("D4 an allow rule for echo does not write the shell's start-up file", async () => {
  const commands = ["echo x > ~/.bashrc", "echo x >> ~/.ssh/authorized_keys", "echo x | tee ~/.bashrc"];
  for (const [command, verdict] of await answers(commands, { rules: { allow: ["Bash(echo *)", "Bash(tee *)"] } }))
    expect([command, verdict]).not.toEqual([command, "allow"]);
  expect(await answers(["echo x > notes.txt"], { rules: { allow: ["Bash(echo *)"] } })).toEqual(
    all(["echo x > notes.txt"], "allow"),
  );
});

test("E11 deny WebFetch denies WebFetch by any of its names, a domain only that domain", async () => {
  const fetch = async (rule: string, tool: string, url: string) => {
    const args = ["explain", "--json", "--deny", rule, "--mode", "allow", tool, JSON.stringify({ url })];
    return JSON.parse((await runCordon(["policy", ...args], { scratch })).stdout).verdict;
  };
  for (const tool of ["WebFetch", "web_fetch", "fetch"])
    expect(await fetch("WebFetch", tool, "https://a.example")).toBe("deny");
  expect(await fetch("WebFetch", "WebSearch", "https://a.example")).toBe("allow");
  expect(await fetch("WebFetch(domain:a.example)", "WebFetch", "https://A.example./x")).toBe("deny");
  expect(await fetch("WebFetch(domain:a.example)", "WebFetch", "https://b.example/x")).toBe("allow");
});

describe("deny Read(.env)", () => {
  const flags = ["--deny", "Read(.env)", "--mode", "allow"];
  const calls: [string, object][] = [
    ["read_file", { path: ".env" }],
    ["read_file", { path: "./src/../.env" }],
    ["read_file", { path: "innocent.txt" }],
    ["Read", { file_path: ".env" }],
    ["bash", { command: "cat .env" }],
    ["bash", { command: "cat < .env" }],
    ["bash", { command: "head -1 src/../.env" }],
    ["bash", { command: "cp .env x" }],
    ["grep_search", { pattern: "KEY", path: ".env" }],
  ];
  for (const [tool, input] of calls)
    test(`C14 binds ${tool} ${JSON.stringify(input)}`, async () => {
      expect(await callTool(tool, input, { scratch }, flags)).toMatchObject({
        ok: false,
        error: { code: "policy.denied" },
      });
    });
  test("C14 leaves the files beside it", async () => {
    for (const path of ["note.txt", ".env.example"])
      expect(await callTool("read_file", { path }, { scratch }, flags)).toMatchObject({ ok: true });
    expect(await callTool("bash", { command: "cat note.txt" }, { scratch }, flags)).toMatchObject({ ok: true });
  });
});

test("A7 E3 in mode prompt a read asks, and with nobody there that is a no at once, in words", async () => {
  const result = await callTool("read_file", { path: "note.txt" }, { scratch }, ["--mode", "prompt"]);
  expect(result).toMatchObject({ exit: 3, ok: false, error: { code: "policy.needs_answer", at: "authorize" } });
});

test("A7 preset dont-ask denies what would ask, plan denies writes, accept-edits allows them", async () => {
  const write = (mode: string) =>
    callTool("write_file", { path: "w.txt", content: "x" }, { scratch }, ["--mode", mode]);
  expect(await write("plan")).toMatchObject({ ok: false, error: { code: "policy.denied" } });
  expect(await write("accept-edits")).toMatchObject({ ok: true });
  const run = (mode: string) => callTool("bash", { command: "install note.txt x" }, { scratch }, ["--mode", mode]);
  expect(await run("dont-ask")).toMatchObject({ ok: false, error: { code: "policy.denied" } });
  expect(await run("accept-edits")).toMatchObject({ ok: false, error: { code: "policy.needs_answer" } });
});

test("C18 what looks as if it read and does more is not in the read-only table", async () => {
  const commands = [
    "git branch -D main",
    "git diff --output=f",
    "git grep -O x",
    "rg --pre x y",
    "sed -i s/a/b/ f",
    "find . -delete",
    "sort -o f g",
    "awk 'BEGIN{system(\"x\")}'",
    "git remote add x y",
    "git tag x",
    "tar xf a",
    "sed -n 'w f' g",
    "find . -exec touch {} +",
    "xxd -r a b",
  ];
  const got = await answers(commands, { mode: "read-only" });
  expect(got).toEqual(all(commands, "deny"));
  const reading = [
    "git branch",
    "git diff",
    "git grep x",
    "rg x",
    "sed -n 1p f",
    "find .",
    "sort f",
    "awk '{print $1}' f",
    "git remote -v",
  ];
  expect(await answers(reading, { mode: "read-only" })).toEqual(all(reading, "allow"));
});

test("C18 harmless commands ask nothing", async () => {
  const commands = [
    "cat .env.example",
    "cd src && git status",
    "FOO=bar echo x",
    "npm ls",
    "git log | head",
    'for f in *.ts; do wc -l "$f"; done',
    "grep -r x src | sort | uniq -c",
    "[ -f x ] && echo y",
    'echo "$(date)"',
    "ls > /dev/null 2>&1",
    "node --version",
    "echo x > out.txt",
    "f() { echo hi; }; f",
    "diff <(sort a) <(sort b)",
    "find . -name '*.ts' | xargs wc -l",
  ];
  expect(await answers(commands, {})).toEqual(all(commands, "allow"));
});

test("C14 a settings file that can't be read stops the start, with file, line and column; mended, the call goes on", async () => {
  const file = join(scratch.home, ".config/cordon/config.json");
  const write = { path: "made.txt", content: "x" };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '{\n  "permissions": { "deny": ["Bash(rm *)" }\n}\n');
  expect(await callTool("write_file", write, { scratch })).toMatchObject({
    exit: 121,
    ok: false,
    error: { code: "config.invalid", message: expect.stringMatching(/config\.json:2:\d+/) },
  });
  expect(existsSync(join(scratch.work, "made.txt"))).toBe(false);
  writeFileSync(file, '{\n  "permissions": { "deny": ["Bash(rm *)"] }\n}\n');
  expect(await callTool("write_file", write, { scratch })).toMatchObject({ exit: 0, ok: true });
  rmSync(file);
});

test("D5 a text that stands twice is not edited: the error has the count and the lines; once is enough to edit", async () => {
  const file = join(scratch.work, "twice.txt");
  writeFileSync(file, "same\nother\nsame\n");
  const edit = (old_string: string) => ({ path: "twice.txt", old_string, new_string: "new" });
  const refused = await callTool("edit_file", edit("same"), { scratch });
  expect(refused).toMatchObject({ ok: false, error: { message: expect.stringMatching(/2 .*1.*3/) } });
  expect(readFileSync(file, "utf8")).toBe("same\nother\nsame\n");
  expect(await callTool("edit_file", edit("other"), { scratch })).toMatchObject({ ok: true });
  expect(readFileSync(file, "utf8")).toBe("same\nnew\nsame\n");
});
