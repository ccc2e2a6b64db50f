// A7, C14, D9: who may do what in which mode, through the doors `call` (nobody to ask) and `serve` (somebody to ask).
import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { type Client, startServe } from "../support/serve_client.ts";

type Answer = "allow" | "ask" | "deny";

/** The seed's access matrix, row by row: mode, then read_file, write_file, bash. */
const MATRIX: Readonly<Record<string, [Answer, Answer, Answer]>> = {
  "read-only": ["allow", "deny", "deny"],
  "workspace-write": ["allow", "allow", "ask"],
  "danger-full-access": ["allow", "allow", "allow"],
  prompt: ["ask", "ask", "ask"],
  allow: ["allow", "allow", "allow"],
};

const CALLS: [string, object][] = [
  ["read_file", { path: "a.txt" }],
  ["write_file", { path: "w.txt", content: "x" }],
  ["bash", { command: "install /dev/null b.txt" }],
];

describe("the mode matrix", () => {
  const scratch = makeScratch();
  writeFileSync(join(scratch.work, "a.txt"), "one\n");
  afterAll(() => removeScratch(scratch));
  for (const [mode, answers] of Object.entries(MATRIX)) {
    for (const [at, [tool, input]] of CALLS.entries()) {
      const answer = answers[at] ?? "deny";
      test(`A7 mode ${mode}: ${tool} is ${answer} with nobody to ask`, async () => {
        const result = await callTool(tool, input, { scratch, env: { CORDON_PERMISSION_MODE: mode } });
        if (answer === "allow") return expect(result).toMatchObject({ exit: 0, ok: true });
        const code = answer === "ask" ? "policy.needs_answer" : "policy.denied";
        expect(result).toMatchObject({
          exit: 3,
          ok: false,
          error: { code, at: "authorize", message: expect.stringContaining(mode) },
        });
      });
    }
    test(`A7 mode ${mode}: with somebody to ask, just what asks is asked, and yes means yes`, async () => {
      const client = await startServe({ scratch }, ["--mode", mode]);
      for (const [at, [tool, input]] of CALLS.entries()) {
        const id = `${at}`;
        await client.send({ id, tool, input });
        if (answers[at] === "ask") {
          const asked = await client.wait({ id, type: "permission" });
          expect(asked).toMatchObject({ request: { tool, input, decision: { verdict: "ask" } } });
          await client.send({ type: "permission", id, choice: "once" });
        }
        expect(await client.wait({ id, type: "result" })).toMatchObject({ ok: answers[at] !== "deny" });
      }
      await client.close();
      const questions = client.lines.filter(({ type }) => type === "permission");
      expect(questions).toHaveLength(answers.filter((answer) => answer === "ask").length);
    });
  }
});

describe("questions", () => {
  let scratch: Scratch;
  let client: Client;
  beforeEach(async () => {
    scratch = makeScratch();
    client = await startServe({ scratch });
  });
  afterEach(async () => {
    client.kill("SIGKILL");
    await client.close().catch(() => {});
    removeScratch(scratch);
  });
  const ask = async (id: string, command: string) => {
    await client.send({ id, tool: "bash", input: { command } });
    return client.wait({ id, type: "permission" });
  };
  test("D9 once holds once, session for the very same call, and no other", async () => {
    expect(await ask("1", "install /dev/null x")).toMatchObject({ choices: ["once", "session", "always", "deny"] });
    await client.send({ type: "permission", id: "1", choice: "once" });
    await client.wait({ id: "1", type: "result" });
    await ask("2", "install /dev/null x");
    await client.send({ type: "permission", id: "2", choice: "session" });
    expect(await client.wait({ id: "2", type: "result" })).toMatchObject({ ok: true });
    expect(await client.call("bash", { command: "install /dev/null x" })).toMatchObject({ ok: true });
    await ask("4", "install /dev/null x y");
    await client.send({ type: "permission", id: "4", choice: "deny", reason: "use another name" });
    expect(await client.wait({ id: "4", type: "result" })).toMatchObject({
      ok: false,
      error: { code: "policy.refused_by_person", message: expect.stringContaining("use another name") },
    });
    expect(existsSync(join(scratch.work, "y"))).toBe(false);
  });
  test("B9 a client that says it does not answer is denied at once, a waiting question too", async () => {
    await ask("1", "install /dev/null x");
    await client.send({ type: "hello", answers: false });
    expect(await client.wait({ id: "1", type: "result" })).toMatchObject({ ok: false });
    expect(await client.call("bash", { command: "install /dev/null x" })).toMatchObject({
      ok: false,
      error: { code: "policy.needs_answer" },
    });
    expect(existsSync(join(scratch.work, "x"))).toBe(false);
  });
  test("B9 end of stdin denies what waits, and the exit is 0", async () => {
    await ask("1", "install /dev/null x");
    expect((await client.close()).code).toBe(0);
    expect(client.lines.at(-1)).toMatchObject({ id: "1", type: "result", ok: false });
    expect(existsSync(join(scratch.work, "x"))).toBe(false);
  });
  test("E3 a misspelt choice is an error line and no yes", async () => {
    await ask("1", "install /dev/null x");
    await client.send({ type: "permission", id: "1", choice: "yes" });
    expect(await client.wait({ type: "error" })).toMatchObject({ error: { code: "serve.bad_message" } });
    await client.send({ type: "cancel", id: "1" });
    expect(await client.wait({ id: "1", type: "result" })).toMatchObject({
      ok: false,
      error: { code: "tool.cancelled" },
    });
    expect(existsSync(join(scratch.work, "x"))).toBe(false);
  });
});

describe("rules for commands", () => {
  const scratch = makeScratch();
  writeFileSync(join(scratch.work, "a.txt"), "one\n");
  afterAll(() => removeScratch(scratch));
  const judged = async (command: string, flags: string[]) => {
    const { ok, error } = await callTool("bash", { command }, { scratch }, flags);
    return ok ? "allow" : String(error?.code);
  };
  const REMOVALS = [
    "cd /tmp && rm -rf x",
    "FOO=1 rm x",
    "env rm x",
    "timeout 5 rm x",
    "\\rm x",
    "/bin/rm x",
    "bash -c 'rm x'",
    "$(rm x)",
    "cat <(rm x)",
    "{ rm x; }",
    "r''m x",
    "echo x | xargs rm",
    "find . -exec rm {} \\;",
    "f() { rm x; }; f",
    "eval 'rm x'",
  ];
  test("C14 a denied command is denied in any clothes, in mode allow too", async () => {
    const flags = ["--mode", "allow", "--deny", "bash(rm:*)"];
    for (const command of REMOVALS) expect([command, await judged(command, flags)]).toEqual([command, "policy.denied"]);
    expect(await judged("true rm", flags)).toBe("allow");
  });
  test("C14 an allowed command does not carry another with it", async () => {
    const flags = ["--allow", "bash(git:*)"];
    expect(await judged("git --version", flags)).toBe("allow");
    for (const command of [
      "git status; install /dev/null x",
      "gitleaks x",
      "git log | tee x",
      "git log > ../x",
      "git log $(install /dev/null x)",
    ])
      expect([command, await judged(command, flags)]).toEqual([command, "policy.needs_answer"]);
    expect(existsSync(join(scratch.work, "x"))).toBe(false);
  });
  test("C18 reading commands need no rule; their writing flags do", async () => {
    for (const command of ["ls -la", "cat a.txt | head -n 1", "git status", "grep -n one a.txt"])
      expect([command, await judged(command, [])]).toEqual([command, "allow"]);
    for (const command of [
      "sed -i s/o/0/ a.txt",
      "find . -delete",
      "sort -o a.txt a.txt",
      "git branch -D main",
      "awk 'BEGIN{system(\"id\")}'",
      "rg --pre cat x",
    ])
      expect([command, await judged(command, [])]).toEqual([
        command,
        expect.stringMatching(/^policy\.(needs_answer|denied)$/),
      ]);
    expect(readFileSync(join(scratch.work, "a.txt"), "utf8")).toBe("one\n");
  });
  test("A7 deny beats ask beats allow; ask holds in mode danger-full-access", async () => {
    const both = ["--mode", "danger-full-access", "--allow", "bash(install:*)", "--ask", "bash(install:*)"];
    expect(await judged("install /dev/null x", both)).toBe("policy.needs_answer");
    expect(await judged("install /dev/null x", [...both, "--deny", "bash(install:*)"])).toBe("policy.denied");
  });
  test("A7 a denied read binds the tool, the command, the link and the search", async () => {
    mkdirSync(join(scratch.work, "private"));
    writeFileSync(join(scratch.work, "private/key.txt"), "hush\n");
    symlinkSync("private/key.txt", join(scratch.work, "alias"));
    const flags = ["--mode", "danger-full-access", "--deny", "Read(./private/**)"];
    const calls: [string, object][] = [
      ["read_file", { path: "private/key.txt" }],
      ["Read", { file_path: "alias" }],
      ["bash", { command: "cat private/key.txt" }],
      ["grep_search", { pattern: "hush", path: "private/key.txt", output_mode: "content" }],
    ];
    for (const [tool, input] of calls) {
      const result = await callTool(tool, input, { scratch }, flags);
      expect([tool, result.exit, result.error?.code]).toEqual([tool, 3, "policy.denied"]);
    }
  });
  // Until plans carry the rules to the search: today only the built-in secrets are left out, and this finds "hush".
  test("A7 a denied read binds a search that starts in a folder above it", async () => {
    const flags = ["--deny", "Read(./private/**)"];
    const result = await callTool("grep_search", { pattern: "hush", output_mode: "content" }, { scratch }, flags);
    expect(JSON.stringify(result.output ?? {})).not.toContain("hush");
  });
  test("A7 a rule that can't be used stops the call and says where it stands", async () => {
    const end = await runCordon(["call", "--deny", "bash(rm", "bash", '{"command":"rm x"}'], { scratch });
    expect([3, 121]).toContain(end.code ?? -1);
    expect(end.stdout + end.stderr).toContain("--deny");
    expect(end.stdout).not.toContain('"ok":true');
  });
});
