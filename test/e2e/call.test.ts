// F2, F5: the six tools through `cordon call`, on real files, with the errors that a model has to understand.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
  mkdirSync(join(scratch.work, "src"));
  writeFileSync(join(scratch.work, "a.txt"), "one\ntwo\ntwo\n");
  writeFileSync(join(scratch.work, "src/b.ts"), "export const x = 1;\n");
});
afterEach(() => removeScratch(scratch));

const call = (tool: string, input: unknown, flags: string[] = []) => callTool(tool, input, { scratch }, flags);
const text = (name: string) => readFileSync(join(scratch.work, name), "utf8");

describe("read_file", () => {
  test("A8 gives a slice of lines; offset and limit saturate", async () => {
    const slice = await call("read_file", { path: "a.txt", offset: 1, limit: 1 });
    expect(slice).toMatchObject({
      exit: 0,
      ok: true,
      output: { file: { content: "two\n", startLine: 2, totalLines: 3, nextOffset: 2 } },
    });
    const far = await call("read_file", { path: "a.txt", offset: 1_000_000_000, limit: 1_000_000_000 });
    expect(far).toMatchObject({ exit: 0, ok: true, output: { file: { content: "", numLines: 0 } } });
  });
  test("C11 E11 takes Read, file_path and numbers as text, and reports each", async () => {
    const result = await call("Read", { file_path: "a.txt", offset: "1", line_numbers: "true" });
    expect(result).toMatchObject({ exit: 0, output: { file: { content: "     2\ttwo\n     3\ttwo\n" } } });
    expect(result.meta?.coercions).toEqual([
      { path: "/file_path", from: "file_path", to: "path" },
      { path: "/offset", from: '"1"', to: "1" },
      { path: "/line_numbers", from: '"true"', to: "true" },
    ]);
  });
  test("C16 refuses what is missing, binary, a folder and a device, each with its code and place", async () => {
    writeFileSync(join(scratch.work, "binary"), Buffer.from([0x7f, 0x45, 0, 1]));
    const failed = { exit: 1, ok: false };
    expect(await call("read_file", { path: "no.txt" })).toMatchObject({
      ...failed,
      error: { code: "fs.not_found", at: "execute", hint: expect.any(String) },
    });
    expect(await call("read_file", { path: "binary" })).toMatchObject({ ...failed, error: { code: "fs.binary" } });
    expect(await call("read_file", { path: "src" })).toMatchObject({ ...failed, error: { code: "fs.not_a_file" } });
    const device = await call("read_file", { path: "/dev/zero" }, ["--mode", "danger-full-access"]);
    expect(device).toMatchObject({ ...failed, error: { code: "fs.not_a_file" } });
  });
});

describe("write_file and edit_file", () => {
  test("A10 write_file makes parent folders, keeps the mode of a file that was there, and adds no line end", async () => {
    expect(await call("write_file", { path: "deep/er/n.txt", content: "hi" })).toMatchObject({
      exit: 0,
      output: { type: "create" },
    });
    expect(text("deep/er/n.txt")).toBe("hi");
    writeFileSync(join(scratch.work, "run.sh"), "old", { mode: 0o755 });
    expect(await call("write_file", { path: "run.sh", content: "new" })).toMatchObject({
      exit: 0,
      output: { type: "update" },
    });
    expect(statSync(join(scratch.work, "run.sh")).mode & 0o777).toBe(0o755);
  });
  test("A9 D5 edit_file wants one place: same, missing and repeated are errors, replace_all changes all", async () => {
    const failed = { exit: 1, ok: false };
    const edit = (old_string: string, new_string: string, more = {}) =>
      call("edit_file", { path: "a.txt", old_string, new_string, ...more });
    expect(await edit("one", "one")).toMatchObject({ ...failed, error: { code: "edit.same" } });
    expect(await edit("three", "3")).toMatchObject({ ...failed, error: { code: "edit.not_found" } });
    const twice = await edit("two", "2");
    expect(twice).toMatchObject({
      ...failed,
      error: { code: "edit.not_unique", details: { count: 2, lines: [2, 3] } },
    });
    expect(text("a.txt")).toBe("one\ntwo\ntwo\n");
    expect(await edit("one\n", "1\n")).toMatchObject({ exit: 0, output: { replacements: 1 } });
    expect(await edit("two", "2", { replace_all: true })).toMatchObject({ exit: 0, output: { replacements: 2 } });
    expect(text("a.txt")).toBe("1\n2\n2\n");
  });
  test("D4 D10 a secret, a system file and a shell's start file are never written; outside the workspace asks", async () => {
    for (const path of [
      ".env",
      "/etc/passwd",
      "~/.bashrc".replace("~", scratch.home),
      join(scratch.home, ".ssh/id_rsa"),
    ]) {
      const result = await call("write_file", { path, content: "x" }, ["--mode", "allow"]);
      expect(result).toMatchObject({ exit: 3, ok: false, error: { code: "policy.denied", at: "authorize" } });
    }
    const outside = join(scratch.top, "outside.txt");
    expect(await call("write_file", { path: outside, content: "x" })).toMatchObject({
      exit: 3,
      error: { code: "policy.needs_answer" },
    });
    expect(existsSync(outside)).toBe(false);
    expect(existsSync(join(scratch.work, ".env"))).toBe(false);
  });
  test("D10 a link in the workspace that leads out is judged by where it leads", async () => {
    writeFileSync(join(scratch.home, ".bashrc"), "own\n");
    symlinkSync(join(scratch.home, ".bashrc"), join(scratch.work, "link"));
    const denied = { exit: 3, error: { code: "policy.denied" } };
    expect(await call("write_file", { path: "link", content: "x" }, ["--mode", "allow"])).toMatchObject(denied);
    expect(readFileSync(join(scratch.home, ".bashrc"), "utf8")).toBe("own\n");
    symlinkSync("a.txt", join(scratch.work, "inside"));
    expect(await call("write_file", { path: "inside", content: "x" })).toMatchObject({ exit: 0 });
    expect(text("a.txt")).toBe("x");
  });
});

describe("glob_search and grep_search", () => {
  test("A11 D6 glob_search gives the newest first, at most 100, and leaves out what .gitignore names", async () => {
    mkdirSync(join(scratch.work, ".git"));
    writeFileSync(join(scratch.work, ".gitignore"), "ignored*\n");
    for (let at = 0; at < 120; at++) {
      const path = join(scratch.work, `f${at}.md`);
      writeFileSync(path, "");
      utimesSync(path, 1_700_000_000 + at, 1_700_000_000 + at);
    }
    writeFileSync(join(scratch.work, "ignored.md"), "");
    const { exit, output } = await call("glob_search", { pattern: "*.md" });
    expect(exit).toBe(0);
    expect(output).toMatchObject({ numFiles: 100, truncated: true });
    expect(output?.filenames?.slice(0, 2)).toEqual([join(scratch.work, "f119.md"), join(scratch.work, "f118.md")]);
    expect(output?.filenames).not.toContain(join(scratch.work, "ignored.md"));
  });
  test("A5 A12 D7 grep_search has three modes, context, case, globs and types", async () => {
    const b = join(scratch.work, "src/b.ts");
    expect(await call("grep_search", { pattern: "CONST", "-i": true })).toMatchObject({
      exit: 0,
      output: { filenames: [b] },
    });
    const content = await call("grep_search", { pattern: "two", output_mode: "content", "-B": 1, head_limit: 2 });
    expect(content.output?.content).toContain("a.txt-1-one");
    expect(content.output?.appliedLimit).toBe(2);
    const count = await call("grep_search", { pattern: "two", output_mode: "count" });
    expect(count.output?.content).toBe(`${join(scratch.work, "a.txt")}:2`);
    expect((await call("grep_search", { pattern: "o", glob: "*.ts" })).output?.filenames).toEqual([b]);
    expect((await call("grep_search", { pattern: "o", type: "ts" })).output?.filenames).toEqual([b]);
  });
  test("D10 a search leaves secrets out", async () => {
    writeFileSync(join(scratch.work, ".env"), "const KEY = 1\n");
    const found = await call("grep_search", { pattern: "const", glob: "*", output_mode: "content" });
    expect(JSON.stringify(found)).not.toContain("KEY");
  });
  test("A3 a bad pattern, a bad type and a missing folder are errors with a hint", async () => {
    const failed = { exit: 1, ok: false };
    expect(await call("grep_search", { pattern: "(" })).toMatchObject({
      ...failed,
      error: { code: "search.bad_pattern", hint: expect.any(String) },
    });
    expect(await call("grep_search", { pattern: "a", type: "typscript" })).toMatchObject({
      ...failed,
      error: { code: "search.bad_type" },
    });
    expect(await call("glob_search", { pattern: "*", path: "none" })).toMatchObject({
      ...failed,
      error: { code: "fs.not_found" },
    });
  });
});

describe("bash", () => {
  const allowed = ["--mode", "danger-full-access"];
  test("A14 gives stdout, stderr, the exit code and how it is to be read", async () => {
    const result = await call("bash", { command: "echo out; echo err >&2; exit 3" }, allowed);
    expect(result).toMatchObject({
      exit: 0,
      ok: true,
      output: {
        stdout: "out\n",
        stderr: "err\n",
        exitCode: 3,
        interrupted: false,
        returnCodeInterpretation: "exit_code:3",
      },
    });
    expect(result.output?.sandboxStatus?.tier).toMatch(/namespaces|landlock/);
  });
  test("A15 E10 a write outside the workspace is refused by the sandbox and reported with the grant", async () => {
    writeFileSync(join(scratch.home, ".bashrc"), "own\n");
    // In a script, where the rules for commands can't see it: here only the kernel stands in the way.
    writeFileSync(join(scratch.work, "script.sh"), "echo x > ~/.bashrc\necho in > inside.txt\n");
    const result = await call("bash", { command: "sh script.sh" }, ["--allow", "bash"]);
    expect(result).toMatchObject({ exit: 0, ok: true });
    expect(result.meta?.denials).toContainEqual(
      expect.objectContaining({
        op: "write",
        path: join(scratch.home, ".bashrc"),
        grant: expect.stringContaining("--allow-write="),
      }),
    );
    expect(readFileSync(join(scratch.home, ".bashrc"), "utf8")).toBe("own\n");
    expect(text("inside.txt")).toBe("in\n");
  });
  test("A4 fields that ask for less protection are refused, those that ask for more hold", async () => {
    const loosened = { exit: 3, error: { code: "sandbox.loosen_refused" } };
    expect(await call("bash", { command: "ls", dangerouslyDisableSandbox: true }, allowed)).toMatchObject(loosened);
    expect(await call("bash", { command: "ls", filesystemMode: "off" }, allowed)).toMatchObject(loosened);
    const narrow = { filesystemMode: "allow-list", allowedMounts: ["src"] };
    const result = await call("bash", { command: "touch src/in; touch out", ...narrow }, ["--mode", "allow"]);
    expect(result).toMatchObject({ ok: true, output: { exitCode: 1 } });
    expect([existsSync(join(scratch.work, "src/in")), existsSync(join(scratch.work, "out"))]).toEqual([true, false]);
  });
  test("A13 a background task needs a lasting process and is refused here", async () => {
    const result = await call("bash", { command: "ls", run_in_background: true });
    expect(result).toMatchObject({
      exit: 1,
      error: { code: "exec.background_unavailable", hint: expect.stringContaining("serve") },
    });
  });
  test("B18 much output is cut on a character, says how much, and the exit code stays", async () => {
    const command = "for i in $(seq 1 200000); do echo 'grüße 漢字'; done; exit 4";
    const result = await call("bash", { command }, ["--allow", "bash"]);
    expect(result).toMatchObject({ ok: true, output: { exitCode: 4 } });
    expect(result.output?.stdout?.length).toBeLessThan(400_000);
    expect(result.output?.stdout).not.toContain("\ufffd");
    expect(result.output?.droppedBytes ?? result.meta?.droppedBytes).toBeGreaterThan(1_000_000);
  });
});

describe("the door", () => {
  test("A3 every fault of an input is named at once with its pointer and the nearest name", async () => {
    const { exit, error } = await call("bash", { comand: "ls", timeout: "soon" });
    expect(exit).toBe(1);
    expect(error).toMatchObject({ code: "input.invalid", at: "validate" });
    const faults = ["/comand", "/command", "/timeout"].map((path) => expect.objectContaining({ path }));
    expect(error?.details).toBeArrayOfSize(faults.length);
    expect(error?.details).toEqual(expect.arrayContaining(faults));
    expect(JSON.stringify(error?.details)).toContain("did you mean command?");
  });
  test("A6 E1 an unknown tool is an error that names the nearest", async () => {
    expect(await call("red_file", {})).toMatchObject({
      exit: 1,
      error: { code: "tool.unknown", hint: expect.stringContaining("read_file") },
    });
    expect(await call("run", { argv: ["id"] })).toMatchObject({ exit: 1, error: { code: "tool.unknown" } });
  });
  test("F5 the input may come on stdin, stdout is one line of JSON and stderr is empty", async () => {
    const end = await runCordon(["call", "read_file"], { scratch }, '{"path":"a.txt"}\n');
    expect(end).toMatchObject({ code: 0, stderr: "" });
    expect(end.stdout.split("\n")).toHaveLength(2);
    expect(JSON.parse(end.stdout)).toMatchObject({
      ok: true,
      meta: { durationMs: expect.any(Number), auditId: expect.any(String) },
    });
  });
  test("F5 bad JSON, no JSON, bytes that are no text and too many words are 121 with nothing on stdout", async () => {
    const usage = { code: 121, stdout: "", stderr: expect.stringContaining("usage:") };
    expect(await runCordon(["call", "bash", '{"command":'], { scratch })).toMatchObject(usage);
    expect(await runCordon(["call", "bash"], { scratch }, "")).toMatchObject(usage);
    expect(await runCordon(["call", "bash"], { scratch }, new Uint8Array([0xff, 0xfe]))).toMatchObject(usage);
    expect(await runCordon(["call", "bash", "{}", "{}"], { scratch })).toMatchObject(usage);
    expect(await runCordon(["call"], { scratch })).toMatchObject(usage);
  });
});
