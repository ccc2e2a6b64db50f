// F1, F5: the commands around the sandbox: --version, --help, tools, doctor, tour; and a hostile folder to start in.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCordon, runShell } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

const TOOLS = ["bash", "edit_file", "glob_search", "grep_search", "read_file", "write_file"];
const COMMANDS = ["run", "call", "serve", "tools", "doctor", "tour"];

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => {
  chmodSync(scratch.work, 0o700);
  removeScratch(scratch);
});
const cordon = (...args: string[]) => runCordon(args, { scratch });

describe("help and version", () => {
  test("F1 --version, -V and version print the same one line", async () => {
    for (const word of ["--version", "-V", "version"])
      expect(await cordon(word)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^cordon \d+\.\d+\.\d+\n$/),
        stderr: "",
      });
  });
  test("F5 --help names every command with its summary", async () => {
    for (const word of ["--help", "-h", "help"]) {
      const end = await cordon(word);
      expect(end).toMatchObject({ code: 0, stderr: "" });
      for (const name of COMMANDS) expect(end.stdout).toMatch(new RegExp(`^  ${name} +\\S`, "m"));
    }
  });
  for (const name of COMMANDS) {
    test(`F5 cordon ${name} --help says how it is used, with an example, and runs nothing`, async () => {
      for (const args of [
        [name, "--help"],
        ["help", name],
      ]) {
        const end = await cordon(...args);
        expect(end).toMatchObject({ code: 0, stderr: "" });
        expect(end.stdout).toContain(`cordon ${name}`);
        expect(end.stdout.toLowerCase()).toContain("example");
      }
      expect(readdirSync(scratch.state)).toEqual([]);
    });
    test(`F5 cordon ${name} with an unknown flag is 121 with the flags there are`, async () => {
      const end = await cordon(name, "--frobnicate");
      expect(end).toMatchObject({ code: 121, stdout: "", stderr: expect.stringContaining("--frobnicate") });
    });
  }
});

describe("tools and doctor", () => {
  test("A1 A3 tools --json lists the six with closed schemas and the permission each needs", async () => {
    const end = await cordon("tools", "--json");
    expect(end).toMatchObject({ code: 0, stderr: "" });
    const tools: { name: string; description: string; requires: string; inputSchema: Record<string, unknown> }[] =
      JSON.parse(end.stdout);
    expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS);
    for (const { inputSchema, description } of tools) {
      expect(inputSchema).toMatchObject({
        type: "object",
        additionalProperties: false,
        properties: expect.any(Object),
      });
      expect(description.length).toBeGreaterThan(40);
    }
    const needs = Object.fromEntries(tools.map(({ name, requires }) => [name, requires]));
    expect(needs).toEqual({
      read_file: "read-only",
      glob_search: "read-only",
      grep_search: "read-only",
      write_file: "workspace-write",
      edit_file: "workspace-write",
      bash: "danger-full-access",
    });
  });
  test("F5 tools without --json is for people and has every name", async () => {
    const end = await cordon("tools");
    for (const name of TOOLS) expect(end.stdout).toContain(name);
  });
  test("A17 A18 doctor --json has the tier, each property with its state, and why where it is missing", async () => {
    const end = await cordon("doctor", "--json");
    expect(end.stderr).toBe("");
    const report = JSON.parse(end.stdout);
    expect(report).toMatchObject({
      platform: "linux",
      supported: true,
      facts: { kernel: expect.any(String), container: expect.any(Array) },
    });
    expect(["namespaces", "landlock", "none"]).toContain(report.tier);
    expect(end.code).toBe(report.tier === "none" ? 120 : 0);
    expect(report.properties.length).toBeGreaterThanOrEqual(11);
    for (const { state, why, help } of report.properties)
      if (state !== "enforced") expect([typeof why, typeof help]).toEqual(["string", "string"]);
    expect((await cordon("doctor")).stdout).toContain(`tier  ${report.tier}`);
  });
});

describe("tour", () => {
  test("F5 tour keeps all four promises, leaves nothing and does not touch the home", async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.includes("cordon-tour"));
    const end = await cordon("tour");
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout).toContain("4 of 4 went as promised");
    expect(end.stdout).toMatch(/blocked write .*\.bashrc/);
    expect(readdirSync(tmpdir()).filter((name) => name.includes("cordon-tour"))).toEqual(before);
    expect([readdirSync(scratch.home), readdirSync(scratch.work)]).toEqual([[], []]);
  });
});

describe("where it is started", () => {
  test("F1 a folder full of files that Bun would obey changes nothing and runs nothing", async () => {
    const preload = 'require("node:fs").writeFileSync("owned", "x"); process.exit(66);\n';
    writeFileSync(join(scratch.work, "preload.js"), preload);
    writeFileSync(join(scratch.work, "bunfig.toml"), 'preload = ["./preload.js"]\n[run]\nbun = true\n');
    writeFileSync(
      join(scratch.work, ".env"),
      `CORDON_PERMISSION_MODE=allow\nCORDON_STATE_DIR=${scratch.work}/evil\nBUN_OPTIONS=--preload=./preload.js\n`,
    );
    writeFileSync(
      join(scratch.work, "package.json"),
      '{"type":"commonjs","imports":{"#x":"./preload.js"},"bun":{"preload":"./preload.js"}}',
    );
    writeFileSync(
      join(scratch.work, "tsconfig.json"),
      '{"compilerOptions":{"paths":{"@cordon/core":["./preload.js"],"*":["./preload.js"]}}}',
    );
    mkdirSync(join(scratch.work, "node_modules/@sinclair/typebox"), { recursive: true });
    writeFileSync(join(scratch.work, "node_modules/@sinclair/typebox/index.js"), preload);
    expect(await cordon("--version")).toMatchObject({ code: 0 });
    expect(await cordon("run", "--", "true")).toMatchObject({ code: 0, stderr: "" });
    const denied = await cordon("call", "bash", '{"command":"install /dev/null x"}');
    expect(denied.code).toBe(3);
    expect([existsSync(join(scratch.work, "owned")), existsSync(join(scratch.work, "evil"))]).toEqual([false, false]);
  });
  test("F1 a folder that can't be written is no obstacle", async () => {
    chmodSync(scratch.work, 0o555);
    expect(await runShell("pwd", { scratch })).toMatchObject({ code: 0, stdout: `${scratch.work}\n` });
  });
  test("F1 HOME that does not exist is refused with what to do, and nothing runs", async () => {
    const end = await runCordon(["run", "--", "touch", "ran"], { scratch, env: { HOME: join(scratch.top, "none") } });
    expect(end).toMatchObject({ code: 121, stderr: expect.stringContaining("HOME") });
    expect(existsSync(join(scratch.work, "ran"))).toBe(false);
  });
  test("A25 a HOME in which nothing can be made is audit.unwritable, and nothing runs", async () => {
    // A file, not a mode: root may write into any folder.
    const home = join(scratch.top, "home2");
    mkdirSync(home);
    writeFileSync(join(home, ".local"), "");
    const end = await runCordon(["run", "--", "touch", "ran"], { scratch, env: { HOME: home, CORDON_STATE_DIR: "" } });
    expect(end).toMatchObject({ code: 121, stderr: expect.stringContaining("audit.unwritable") });
    expect(existsSync(join(scratch.work, "ran"))).toBe(false);
  });
  test("E10 the home folder itself is no workspace: nothing in it can be written", async () => {
    const around = { scratch, cwd: scratch.home };
    expect((await runShell("touch here", around)).code).not.toBe(0);
    expect(readdirSync(scratch.home)).toEqual([]);
    expect((await runShell("touch here", { scratch })).code).toBe(0);
  });
});
