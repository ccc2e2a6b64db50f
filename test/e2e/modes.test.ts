// E10: what each mode lets a command of the `bash` tool do, in the seed's three rows: read, write, network.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { missingPrograms } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
  mkdirSync(join(scratch.home, ".ssh"));
  writeFileSync(join(scratch.home, ".ssh/id_ed25519"), "the key");
  writeFileSync(join(scratch.work, "note"), "a note");
});
afterEach(() => removeScratch(scratch));

const bash = (command: string, mode: string, flags: string[] = []) =>
  callTool("bash", { command }, { scratch }, ["--mode", mode, ...flags]);

/** A server that counts who came; it answers "hello". */
function listenOnLoopback() {
  let visits = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      visits++;
      return new Response("hello");
    },
  });
  return { port: server.port, visits: () => visits, [Symbol.dispose]: () => void server.stop(true) };
}

/** Speaks HTTP with nothing but bash. */
const visit = (port: number | undefined) =>
  `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;

test("E10 read-only reads, and writes nothing: not by the policy, and not by the sandbox behind it", async () => {
  expect((await bash("cat note", "read-only")).output?.stdout).toBe("a note");
  expect((await bash("touch made", "read-only", ["--allow", "Bash(touch *)"])).error?.code).toBe("policy.denied");
  expect(existsSync(join(scratch.work, "made"))).toBe(false);
});

test("E10 workspace-write writes the workspace and nothing else, and has no network", async () => {
  using server = listenOnLoopback();
  const allow = ["--allow", "Bash"];
  expect((await bash("install -m 644 note made", "workspace-write", allow)).output).toMatchObject({ exitCode: 0 });
  expect(existsSync(join(scratch.work, "made"))).toBe(true);
  expect((await bash(`install -m 644 note ${scratch.top}/out`, "workspace-write", allow)).error?.code).toBe(
    "policy.needs_answer",
  );
  // The policy can't see into a script, the sandbox holds it.
  writeFileSync(join(scratch.work, "out.sh"), `install -m 644 note '${scratch.top}/out'`);
  writeFileSync(join(scratch.work, "visit.sh"), visit(server.port));
  const script = await bash("bash out.sh", "workspace-write", allow);
  expect(script.ok).toBe(true);
  expect(script.output).not.toMatchObject({ exitCode: 0 });
  expect(existsSync(join(scratch.top, "out"))).toBe(false);
  expect((await bash("bash visit.sh", "workspace-write", allow)).ok).toBe(true);
  expect(server.visits()).toBe(0);
});

test("E10 danger-full-access writes anywhere and has the network, and a secret still asks", async () => {
  using server = listenOnLoopback();
  const outside = await bash(`install -m 644 note ${scratch.top}/out`, "danger-full-access");
  expect(outside.output).toMatchObject({ exitCode: 0 });
  expect(existsSync(join(scratch.top, "out"))).toBe(true);
  expect((await bash(visit(server.port), "danger-full-access")).output?.stdout).toContain("hello");
  expect(server.visits()).toBe(1);
  expect((await bash("cat ~/.ssh/id_ed25519", "danger-full-access")).error?.code).toBe("policy.needs_answer");
});

const hasMake = missingPrograms(["make"]).length === 0;
if (!hasMake) console.log("skipped: secrets behind a make file, because make is not installed");

test.skipIf(!hasMake)(
  "E10 danger-full-access hides secrets in the sandbox too, where the policy can't see them",
  async () => {
    writeFileSync(join(scratch.home, "plain"), "no secret");
    writeFileSync(join(scratch.work, "Makefile"), "plain:\n\t@cat ~/plain\nkey:\n\t@cat ~/.ssh/id_ed25519\n");
    expect((await bash("make plain", "danger-full-access")).output?.stdout).toBe("no secret");
    const hidden = await bash("make key", "danger-full-access");
    expect(hidden.ok).toBe(true);
    expect(hidden.output?.stdout).toBe("");
  },
);
