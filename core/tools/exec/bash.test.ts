import { describe, expect, test } from "bun:test";
import { commandEnd, faultOf, grantsWith } from "../../../test/support/tool_calls.ts";
import type { CommandEnd, ExecGrant } from "../../contract/grants.ts";
import { DEFAULT_SANDBOX_REQUEST } from "../../contract/sandbox_request.ts";
import { checkInput } from "../../dispatch/check_input.ts";
import { bash } from "./bash.ts";
import { run } from "./run.ts";

const place = { cwd: "/w", home: "/h", workspace: "/w" };
const needs = (args: object) => bash.needs({ command: "ls", ...args }, place);

/** Runs the tool on a command that ends as given; keeps the options it was run with. */
async function runBash(args: object, end: Partial<CommandEnd> = {}): Promise<{ output: unknown; options: unknown[] }> {
  const options: unknown[] = [];
  const exec: ExecGrant = {
    run: async (given) => {
      options.push(given);
      return commandEnd(end);
    },
    start: async (given) => {
      options.push(given);
      return { id: "t1", outputFile: "/tmp/out" };
    },
  };
  return { output: await bash.run({ command: "ls", ...args }, grantsWith({ exec })), options };
}

describe("bash", () => {
  test("A4 needs one command with the policy's own sandbox", () => {
    const sandbox = DEFAULT_SANDBOX_REQUEST;
    expect(needs({})).toEqual([{ kind: "exec", command: "ls", argv: ["bash", "-c", "ls"], sandbox }]);
  });

  test("A4 accepts all nine fields and no other", () => {
    const nine = {
      command: "ls",
      timeout: 1,
      description: "List",
      run_in_background: true,
      dangerouslyDisableSandbox: false,
      namespaceRestrictions: true,
      isolateNetwork: true,
      filesystemMode: "allow-list",
      allowedMounts: ["/w/out"],
    };
    expect(checkInput(bash, nine).faults).toEqual([]);
    expect(checkInput(bash, { ...nine, sandbox: "off" }).faults).toMatchObject([{ path: "/sandbox" }]);
  });

  test("A15 refuses to loosen and tightens on demand", async () => {
    for (const loose of [{ dangerouslyDisableSandbox: true }, { filesystemMode: "off" }]) {
      expect((await faultOf(() => needs(loose))).code).toBe("sandbox.loosen_refused");
    }
    const tight = {
      namespaceRestrictions: true,
      isolateNetwork: true,
      filesystemMode: "allow-list",
      allowedMounts: ["out"],
    };
    expect(needs({ dangerouslyDisableSandbox: false, ...tight })).toMatchObject([
      {
        sandbox: {
          network: "blocked",
          require: ["fs.write_confined", "proc.isolated", "net.blocked"],
          onlyWrite: ["out"],
          allowWrite: [],
        },
      },
    ]);
    expect(needs({ filesystemMode: "workspace-only" })).toMatchObject([
      { sandbox: { require: ["fs.write_confined"] } },
    ]);
  });

  test("E2 an escalation names exact things and says why; it never lifts the sandbox whole", async () => {
    const justification = "npm needs its registry";
    const [need] = needs({
      dangerouslyDisableSandbox: true,
      escalate: { network: true, write: ["../cache"] },
      justification,
    });
    expect(need).toMatchObject({
      justification,
      sandbox: { network: "open", allowWrite: ["../cache"], allowRead: [] },
    });
    const check = (args: object) => bash.check({ command: "ls", ...args }).map(({ path }) => path);
    expect(check({ escalate: { network: true }, justification })).toEqual([]);
    expect(check({ escalate: { network: true } })).toEqual(["/justification"]);
    expect(check({ escalate: {}, justification })).toEqual(["/escalate"]);
    expect(check({ justification })).toEqual(["/justification"]);
    expect(check({ escalate: { network: true }, isolateNetwork: true, justification })).toEqual(["/escalate"]);
    expect(check({ escalate: { write: ["a"] }, filesystemMode: "workspace-only", justification })).toEqual([
      "/escalate",
    ]);
  });

  test("C12 internal fields are no input of a model", () => {
    const inside = [
      "sandbox",
      "argv",
      "decidedBy",
      "answeredBy",
      "decision",
      "grants",
      "judged",
      "bound",
      "stdio",
      "__proto_",
      "allowWrite",
    ];
    for (const field of inside) {
      const { faults } = checkInput(bash, { command: "ls", [field]: "x" });
      expect(faults).toMatchObject([{ path: `/${field}` }]);
    }
    expect(
      checkInput(bash, { command: "ls", escalate: { unix: ["/run/docker.sock"] }, justification: "x" }).faults,
    ).toMatchObject([{ path: "/escalate/unix" }]);
  });

  test("A15 a field that is false changes nothing", () => {
    expect(needs({ namespaceRestrictions: false, isolateNetwork: false })).toEqual(needs({}));
  });

  test("A15 allow-list and allowedMounts go together, and an empty list is a list", () => {
    const check = (args: object) => bash.check({ command: "ls", ...args }).map(({ path }) => path);
    expect(check({ filesystemMode: "allow-list" })).toEqual(["/allowedMounts"]);
    expect(check({ allowedMounts: ["a"] })).toEqual(["/allowedMounts"]);
    expect(check({ filesystemMode: "allow-list", allowedMounts: [] })).toEqual([]);
    expect(check({ command: "a\0b" })).toEqual(["/command"]);
  });

  test("D8 two minutes by default and ten at most", async () => {
    expect((await runBash({})).options).toEqual([{ timeoutMs: 120_000, stdio: "collect" }]);
    expect((await runBash({ timeout: 5 })).options).toEqual([{ timeoutMs: 5, stdio: "collect" }]);
    const faults = (timeout: number) => checkInput(bash, { command: "ls", timeout }).faults.length;
    expect([0, 1, 600_000, 600_001].map(faults)).toEqual([1, 0, 0, 1]);
  });

  test("A14 answers in the seed's fields", async () => {
    expect((await runBash({}, { stdout: "out", stderr: "err", code: 3 })).output).toEqual({
      stdout: "out",
      stderr: "err",
      interrupted: false,
      returnCodeInterpretation: "exit_code:3",
      exitCode: 3,
      noOutputExpected: false,
      sandboxStatus: { tier: "namespaces", missing: [] },
    });
    expect((await runBash({}, { droppedBytes: 7 })).output).toMatchObject({ droppedBytes: 7, noOutputExpected: true });
  });

  test("A13 a time-out is a normal result, and so is a signal", async () => {
    const late = await runBash(
      { timeout: 50 },
      { stdout: "part", stderr: "warn\n", code: null, signal: "SIGKILL", timedOut: true, limitMs: 50 },
    );
    expect(late.output).toMatchObject({
      stdout: "part",
      stderr: "warn\nCommand exceeded timeout of 50 ms",
      interrupted: true,
      returnCodeInterpretation: "timeout",
    });
    const killed = await runBash({}, { code: null, signal: "SIGTERM" });
    expect(killed.output).toMatchObject({
      interrupted: false,
      returnCodeInterpretation: "signal:SIGTERM",
      exitCode: null,
    });
    const cancelled = await runBash({}, { code: null, signal: "SIGKILL", cancelled: true });
    expect(cancelled.output).toMatchObject({ interrupted: true, returnCodeInterpretation: "cancelled" });
  });

  test("A13 a background command returns its id and its output file, and has no time limit of its own", async () => {
    const { output, options } = await runBash({ run_in_background: true });
    expect(output).toEqual({
      stdout: "",
      stderr: "",
      interrupted: false,
      backgroundTaskId: "t1",
      rawOutputPath: "/tmp/out",
    });
    expect(options).toEqual([{ timeoutMs: null }]);
    expect((await runBash({ run_in_background: true, timeout: 9 })).options).toEqual([{ timeoutMs: 9 }]);
  });

  test("C6 has a title for partial input, C9 is neither read-only nor safe beside others", () => {
    expect(bash.title({})).toBe("Run a command");
    expect(bash.title({ command: "make\nmake test" })).toBe("Run make");
    expect(bash.title({ command: "ls", description: "List files" })).toBe("List files");
    expect([bash.readOnly({ command: "ls" }), bash.concurrencySafe({ command: "ls" })]).toEqual([false, false]);
  });
});

describe("run", () => {
  const args = {
    argv: ["printf", "%s", "it's $HOME", ""],
    sandbox: DEFAULT_SANDBOX_REQUEST,
    timeoutMs: null,
    stdio: "collect",
  };

  test("F5 needs the arguments as given, and a text of them that a shell would read back", () => {
    const [need] = run.needs(args, place);
    expect(need).toMatchObject({ kind: "exec", argv: args.argv, sandbox: DEFAULT_SANDBOX_REQUEST });
    const text = need?.kind === "exec" ? need.command : "";
    const shell = Bun.spawnSync(["bash", "-c", `for word in ${text}; do printf '%s\\0' "$word"; done`]);
    expect(shell.stdout.toString().split("\0").slice(0, -1)).toEqual(args.argv);
  });

  test("F5 takes only its own input, and a program's name", () => {
    const accepts = (input: unknown) => run.input.kind === "typed" && run.input.accepts(input);
    expect(accepts(args)).toBe(true);
    for (const wrong of [null, {}, { ...args, argv: [] }, { ...args, argv: [1] }, { ...args, sandbox: null }])
      expect(accepts(wrong)).toBe(false);
    for (const wrong of [
      { ...args, timeoutMs: 0 },
      { ...args, timeoutMs: 1.5 },
      { ...args, stdio: "pipe" },
    ])
      expect(accepts(wrong)).toBe(false);
    expect(run.check({ ...args, argv: [""] })).toMatchObject([{ path: "/argv/0" }]);
    expect(run.check({ ...args, argv: ["a", "b\0"] })).toMatchObject([{ path: "/argv/1" }]);
    expect(run.check(args)).toEqual([]);
  });

  test("C12 is for the person's door only", () => {
    expect([run.doors, run.decidedBy]).toEqual(["run", "caller"]);
  });

  test("E9 returns how the program ended", async () => {
    const exec: ExecGrant = {
      run: async () => commandEnd({ stdout: "x", code: 2 }),
      start: async () => ({ id: "", outputFile: "" }),
    };
    const end = { exitCode: 2, signal: null, timedOut: false, cancelled: false, stdout: "x", stderr: "" };
    expect(await run.run(args, grantsWith({ exec }))).toEqual(end);
  });
});
