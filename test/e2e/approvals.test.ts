// D9, E2, E3: what people approve, once, for a session and for good; what it is bound to; and what it never opens.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readStoredLog, verifyLog } from "../../core/audit/mod.ts";
import { callTool } from "../support/call_tool.ts";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { type Client, type Line, startServe } from "../support/serve_client.ts";

let scratch: Scratch;
const clients: Client[] = [];
beforeEach(() => {
  scratch = makeScratch();
  writeFileSync(join(scratch.work, "tool.sh"), "#!/bin/sh\necho one > made\n", { mode: 0o755 });
  writeFileSync(join(scratch.work, "note"), "a note\n");
});
afterEach(async () => {
  for (const client of clients.splice(0)) {
    client.kill("SIGKILL");
    await client.close().catch(() => {});
  }
  removeScratch(scratch);
});

async function serve(flags: string[] = []): Promise<Client> {
  const client = await startServe({ scratch }, flags);
  clients.push(client);
  return client;
}

type Question = Line & {
  choices: string[];
  request: { suggestions: { rule: string; shows: string }[]; escalation?: object };
};

let calls = 0;
/** Sends a call; answers its question if there is one, and gives both. */
async function asked(client: Client, command: string, answer: object, more: object = {}) {
  const id = `q${++calls}`;
  await client.send({ id, tool: "bash", input: { command, ...more } });
  const first = await Promise.race([client.wait({ id, type: "permission" }), client.wait({ id, type: "result" })]);
  if (first.type === "result") return { result: first };
  await client.send({ type: "permission", id, ...answer });
  // The test looks at the fields of a question, as the protocol has them.
  return { question: first as Question, result: await client.wait({ id, type: "result" }) };
}

const grantsFile = () => join(scratch.state, "grants.json");
const rows = (): Record<string, unknown>[] =>
  readFileSync(join(scratch.state, "audit.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("how long a yes holds", () => {
  test("D9 once asks again, session asks no more in this process, always asks no more in any", async () => {
    const first = await serve();
    const once = await asked(first, "./tool.sh", { choice: "once" });
    expect(once.question?.choices).toEqual(["once", "session", "always", "deny"]);
    expect(once.result.ok).toBe(true);
    expect((await asked(first, "./tool.sh", { choice: "session" })).question).toBeDefined();
    expect((await asked(first, "./tool.sh", { choice: "deny" })).question).toBeUndefined();
    const second = await serve();
    expect((await asked(second, "./tool.sh", { choice: "always" })).question).toBeDefined();
    expect(statSync(grantsFile()).mode & 0o777).toBe(0o600);
    const third = await serve();
    expect((await asked(third, "./tool.sh", { choice: "deny" })).result.ok).toBe(true);
    expect((await callTool("bash", { command: "./tool.sh" }, { scratch })).ok).toBe(true);
    // Another command, and the same in another folder, are others.
    expect((await callTool("bash", { command: "./tool.sh x" }, { scratch })).error?.code).toBe("policy.needs_answer");
    mkdirSync(join(scratch.work, "sub"));
    const cwd = join(scratch.work, "sub");
    expect((await callTool("bash", { command: "../tool.sh" }, { scratch, cwd })).error?.code).toBe(
      "policy.needs_answer",
    );
    expect(rows().filter(({ decided }) => decided === "person")).toHaveLength(3);
    expect(rows().filter(({ decided }) => decided === "grant")).toHaveLength(3);
    expect(verifyLog(readStoredLog(join(scratch.state, "audit.jsonl")))).toMatchObject({ ok: true });
  });

  test("D9 a chosen rule covers what it says, for as many uses as it says, and no answer saves what was not shown", async () => {
    const client = await serve();
    await client.send({ id: "w", tool: "bash", input: { command: "mkfifo a && sync note" } });
    const question = (await client.wait({ id: "w", type: "permission" })) as Question;
    expect(question.request.suggestions.map(({ rule }) => rule)).toEqual([
      "exact",
      "Bash(mkfifo a), Bash(sync note)",
      "Bash(mkfifo *), Bash(sync *)",
    ]);
    await client.send({ type: "permission", id: "w", choice: "always", rule: "Bash" });
    expect(await client.wait({ id: "w", type: "error" })).toMatchObject({ error: { code: "serve.bad_message" } });
    await client.send({ type: "permission", id: "w", choice: "always", rule: "Bash(mkfifo *), Bash(sync *)", uses: 2 });
    await client.wait({ id: "w", type: "result" });
    const make = (name: string) => callTool("bash", { command: `mkfifo ${name}` }, { scratch });
    const codes = [await make("c"), await make("d"), await make("e")].map(({ error }) => error?.code);
    expect(codes).toEqual([undefined, undefined, "policy.needs_answer"]);
  });

  test("D9 a time limit ends, and a grant never opens what a rule denies or a limit closes", async () => {
    const rule = (...args: string[]) => runCordon(["approvals", "add", "Bash(sync *)", ...args], { scratch });
    expect((await rule("--for", "1ms")).code).toBe(0);
    expect((await callTool("bash", { command: "sync note" }, { scratch })).error?.code).toBe("policy.needs_answer");
    expect((await rule("--for", "30m", "--scope", "user")).code).toBe(0);
    expect((await callTool("bash", { command: "sync note" }, { scratch })).ok).toBe(true);
    const denied = ["--deny", "Bash(sync *)"];
    expect((await callTool("bash", { command: "sync note" }, { scratch }, denied)).error?.code).toBe("policy.denied");
    const asking = ["--ask", "Bash(sync *)"];
    expect((await callTool("bash", { command: "sync note" }, { scratch }, asking)).error?.code).toBe(
      "policy.needs_answer",
    );
    expect((await callTool("bash", { command: "touch ~/.bashrc" }, { scratch })).error?.code).toBe("policy.denied");
    expect((await callTool("bash", { command: "sync note" }, { scratch }, ["--mode", "read-only"])).error?.code).toBe(
      "policy.denied",
    );
  });
});

test("A7 the wait for an answer does not count against the call's time limit", async () => {
  const client = await serve();
  await client.send({ id: "slow", tool: "bash", input: { command: "./tool.sh" }, timeoutMs: 3000 });
  await client.wait({ id: "slow", type: "permission" });
  await Bun.sleep(3500);
  await client.send({ type: "permission", id: "slow", choice: "once" });
  expect(await client.wait({ id: "slow", type: "result" })).toMatchObject({ ok: true, output: { exitCode: 0 } });
});

describe("what the log holds", () => {
  const SECRET = "hunter2-in-the-clear";
  const calls = async () => {
    const env = { API_TOKEN: SECRET };
    const around = { scratch, env };
    await callTool("bash", { command: `curl -H 'Authorization: Bearer ${SECRET}' http://x` }, around);
    await callTool("bash", { command: `API_KEY=${SECRET} ls; ls --token=${SECRET}` }, around);
    await callTool("read_file", { path: `token=${SECRET}` }, around);
    await callTool(`tool ${SECRET}`, {}, around);
    await runCordon(["run", "--", "sh", "-c", `echo ${SECRET}`], around);
    await runCordon(["run", "--", "sh", "-c", `echo ${SECRET}`], around);
  };

  test("I9 no secret enters it, from commands, variables, paths or names of tools", async () => {
    await calls();
    expect(rows()).toHaveLength(12);
    expect(readFileSync(join(scratch.state, "audit.jsonl"), "utf8")).not.toContain(SECRET);
  });

  test("I9 with audit.commands on it holds the question that was decided, secrets masked", async () => {
    mkdirSync(join(scratch.home, ".config/cordon"), { recursive: true, mode: 0o700 });
    writeFileSync(join(scratch.home, ".config/cordon/config.json"), '{"audit":{"commands":true}}', { mode: 0o600 });
    await calls();
    const text = readFileSync(join(scratch.state, "audit.jsonl"), "utf8");
    expect(text).not.toContain(SECRET);
    expect(text).toContain("ls --token=«secret»");
  });

  test("I9 twenty processes that write at once leave one whole chain", async () => {
    const runs = Array.from({ length: 20 }, (_, at) =>
      at % 2 ? runCordon(["run", "--", "true"], { scratch }) : callTool("bash", { command: "ls" }, { scratch }),
    );
    await Promise.all(runs);
    const log = readStoredLog(join(scratch.state, "audit.jsonl"));
    expect(verifyLog(log)).toMatchObject({ ok: true, rows: 40, faults: [], notes: [] });
    expect((await runCordon(["audit", "verify"], { scratch })).code).toBe(0);
    writeFileSync(
      join(scratch.state, "audit.jsonl"),
      `${log.files[0]?.bytes.toString().split("\n").slice(0, 30).join("\n")}\n`,
    );
    expect(await runCordon(["audit", "verify"], { scratch })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("truncated"),
    });
  });
});

describe("what a yes is bound to", () => {
  test("I6 a script that changes between the question and the answer does not run", async () => {
    const client = await serve();
    await client.send({ id: "s", tool: "bash", input: { command: "./tool.sh" } });
    await client.wait({ id: "s", type: "permission" });
    writeFileSync(join(scratch.work, "tool.sh"), "#!/bin/sh\necho two > made\n");
    await client.send({ type: "permission", id: "s", choice: "once" });
    const { error } = await client.wait({ id: "s", type: "result" });
    expect(error).toMatchObject({ code: "policy.changed_since_approval", message: expect.stringContaining("tool.sh") });
    expect(existsSync(join(scratch.work, "made"))).toBe(false);
  });

  test("I6 a script that changed since it was approved for good asks again, and says so where nobody answers", async () => {
    const client = await serve();
    await asked(client, "./tool.sh", { choice: "always" });
    expect((await callTool("bash", { command: "./tool.sh" }, { scratch })).ok).toBe(true);
    writeFileSync(join(scratch.work, "tool.sh"), "#!/bin/sh\necho two > made2\n");
    const refused = await callTool("bash", { command: "./tool.sh" }, { scratch });
    expect(refused).toMatchObject({ exit: 3, error: { code: "policy.changed_since_approval" } });
    expect(existsSync(join(scratch.work, "made2"))).toBe(false);
    const again = await asked(client, "./tool.sh", { choice: "once" });
    expect(again.question?.request).toMatchObject({ changed: join(scratch.work, "tool.sh") });
    expect(again.result.ok).toBe(true);
  });

  test("I6 an approval can't be widened by a model: only answers to its own questions save anything", async () => {
    const client = await serve();
    await client.send({ type: "permission", id: "none", choice: "always", rule: "exact" });
    await client.wait({ id: "none", type: "error" });
    expect(existsSync(grantsFile())).toBe(false);
    const written = await callTool("write_file", { path: grantsFile(), content: "{}" }, { scratch }, [
      "--mode",
      "allow",
    ]);
    expect(written.error?.code).toBe("policy.denied");
    const shell = await callTool("bash", { command: `echo x > ${grantsFile()}` }, { scratch }, ["--mode", "allow"]);
    expect(shell.error?.code).toBe("policy.denied");
  });
});

describe("cordon approvals", () => {
  const approvals = (...args: string[]) => runCordon(["approvals", ...args], { scratch });

  test("I6 adds, lists, revokes and clears", async () => {
    const added = JSON.parse(
      (await approvals("add", "Bash(npm run *)", "--uses", "10", "--for", "30m", "--json")).stdout,
    );
    expect(added).toMatchObject({
      rules: ["Bash(npm run *)"],
      scope: "project",
      usesLeft: 10,
      workspace: scratch.work,
    });
    expect((await approvals("list")).stdout).toContain("Bash(npm run *)");
    expect(JSON.parse((await approvals("list", "--json")).stdout)).toMatchObject([{ id: added.id }]);
    expect((await approvals("revoke", "nothing")).code).toBe(121);
    expect((await approvals("revoke", added.id)).code).toBe(0);
    expect((await approvals("list")).stdout).toBe("no approvals\n");
    expect((await approvals("add", "Bsh(npm run *)")).code).toBe(121);
    await approvals("add", "Bash(a)");
    expect((await approvals("clear")).stdout).toBe("1 revoked\n");
  });

  test("I6 a broken file stops every call with its name and the next step, until it is cleared", async () => {
    await approvals("add", "Bash(touch *)");
    writeFileSync(grantsFile(), readFileSync(grantsFile(), "utf8").slice(0, -20));
    const refused = await callTool("bash", { command: "ls" }, { scratch });
    expect(refused).toMatchObject({
      exit: 121,
      error: { code: "policy.bad_grants", hint: expect.stringContaining("approvals clear") },
    });
    expect(refused.error?.message).toContain(grantsFile());
    expect((await approvals("list")).code).toBe(121);
    expect((await approvals("clear")).stdout).toContain(`${grantsFile()}.broken-`);
    expect((await callTool("bash", { command: "ls" }, { scratch })).ok).toBe(true);
  });
});

describe("escalations", () => {
  const escalate = (what: object) => ({ escalate: what, justification: "it needs the cache" });

  for (const mode of ["workspace-write", "danger-full-access", "prompt", "allow"]) {
    test(`E2 an escalation asks in mode ${mode}, each time, opens what it names, and saves nothing`, async () => {
      const outside = join(scratch.top, "cache");
      mkdirSync(outside);
      mkdirSync(join(scratch.top, "other"));
      const client = await serve(["--mode", mode]);
      const command = `echo x > ${outside}/in; echo y > ${scratch.top}/other/in; ls`;
      for (let time = 0; time < 2; time++) {
        const { question, result } = await asked(client, command, { choice: "once" }, escalate({ write: [outside] }));
        expect(question?.choices).toEqual(["once", "deny"]);
        expect(question?.request.escalation).toEqual({
          lifts: [`write ${outside} and all below it`],
          justification: "it needs the cache",
        });
        expect(result.ok).toBe(true);
      }
      expect(readFileSync(join(outside, "in"), "utf8")).toBe("x\n");
      if (mode !== "danger-full-access") expect(existsSync(join(scratch.top, "other/in"))).toBe(false);
      expect(rows().at(-1)).toMatchObject({ decided: "person", lifts: ["write"] });
      const alone = await callTool("bash", { command: "ls", ...escalate({ network: true }) }, { scratch }, [
        "--mode",
        mode,
      ]);
      expect(alone.error?.code).toBe("policy.needs_answer");
    });
  }

  test("E2 read-only denies an escalation, a deny rule does too, and the sandbox is never lifted whole", async () => {
    const input = { command: "ls", ...escalate({ network: true }) };
    expect((await callTool("bash", input, { scratch }, ["--mode", "read-only"])).error?.code).toBe("policy.denied");
    const secrets = join(scratch.home, ".ssh");
    mkdirSync(secrets);
    const client = await serve(["--mode", "allow"]);
    const { question, result } = await asked(client, "ls", { choice: "once" }, escalate({ write: [secrets] }));
    expect(question).toBeUndefined();
    expect(result.error?.code).toBe("policy.denied");
    const whole = await asked(client, "ls", { choice: "once" }, { dangerouslyDisableSandbox: true });
    expect(whole.result.error?.code).toBe("sandbox.loosen_refused");
  });
});
