// C14, D2, D10: one deny rule on `.env`, every way to its content that people and models find, each beside its allowed twin.
import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { describeEachTier } from "../support/each_tier.ts";
import { runCordon } from "../support/run_cordon.ts";

const SECRET = "KEY=hush-hush";
/** Mode allow and an allow rule for everything: only the deny rule and the sandbox stand in the way. */
const WIDE = ["--mode", "allow", "--allow", "Bash", "--allow", "Read", "--allow", "Edit"];
const RULE = ["--deny", "Read(.env)"];

/** Refused by the rule before anything runs. */
const DENIED: [string, Record<string, string>][] = [
  ["read_file", { path: ".env" }],
  ["read_file", { path: "./src/../.env" }],
  ["read_file", { path: "link.txt" }],
  ["read_file", { path: "way/.env" }],
  ["Read", { file_path: ".env" }],
  ["grep_search", { pattern: "KEY", path: ".env" }],
  ["grep_search", { pattern: "KEY", path: "link.txt" }],
  ...[
    "cat .env",
    "cat < .env",
    "cat 0<.env",
    "cat src/../.env",
    "head -c 10 .e''nv",
    "git show :.env",
    "git show HEAD:.env",
    "git diff --no-index /dev/null .env",
    "cp .env x",
    "mv .env x",
    "ln .env x",
    "source ./.env; echo $KEY",
    "xargs -a .env echo",
    "base64 .env",
    "tar cf - .env",
    "while read -r l; do echo $l; done < .env",
    "echo $(<.env)",
    "bash -c 'cat .env'",
    "find . -name x -o -exec cat .env ;",
  ].map((command): [string, Record<string, string>] => ["bash", { command }]),
];

/** Not certain by the words of the command: they ask, and if they are let through, the sandbox has nothing to show. */
const UNCERTAIN = [
  "head -c 10 ./.e*v",
  "cat .[e]nv",
  "cat ./.en?",
  "cat link.txt",
  "cat way/.env",
  "grep -r KEY .",
  "f=.env; cat $f",
  "cat $(echo .env)",
  "python3 -c 'print(open(\".env\").read())'",
  "python3 -c 'import os; print(os.popen(\"cat link.txt\").read())'",
  "cat /proc/self/cwd/.env",
  "cd way && cat .env",
  "sh ./reads.sh",
  "awk 1 link.txt",
  "tar cf - . | strings",
  "ln .env h; cat h",
  "ln -s .env s; cat s",
];

describeEachTier(({ scratch, around }) => {
  const at = (name: string) => join(scratch.work, name);
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "-c", "user.name=a", "-c", "user.email=a@b", ...args], { cwd: scratch.work });
  beforeAll(() => {
    mkdirSync(at("src"));
    mkdirSync(at("deep"));
    writeFileSync(at("note.txt"), "KEY of nothing\n");
    writeFileSync(at("reads.sh"), "cat .env\n");
    git("init", "-q", "-b", "main");
    git("add", "note.txt");
    git("commit", "-qm", "one");
    writeFileSync(at(".env"), `${SECRET}\n`);
    symlinkSync(".env", at("link.txt"));
    symlinkSync(".", at("way"));
  });
  const call = (tool: string, input: object, flags = [...WIDE, ...RULE]) => callTool(tool, input, around, flags);

  describe("deny Read(.env)", () => {
    for (const [tool, input] of DENIED)
      test(`C14 binds ${tool} ${JSON.stringify(input)}`, async () => {
        const answer = await call(tool, input);
        expect(answer).toMatchObject({ ok: false, error: { code: "policy.denied" } });
        expect(JSON.stringify(answer)).not.toContain(SECRET);
        expect(readFileSync(at(".env"), "utf8")).toBe(`${SECRET}\n`);
      });

    for (const command of UNCERTAIN)
      test(`C14 D2 shows nothing to ${command}`, async () => {
        expect(JSON.stringify(await call("bash", { command }))).not.toContain(SECRET);
        // A person's own command meets no rule: the sandbox alone keeps the file from it.
        writeSettings();
        const own = await runCordon(["run", "--", "bash", "-c", command], around);
        expect(own.stdout + own.stderr).not.toContain(SECRET);
      });

    const writeSettings = () => {
      mkdirSync(join(scratch.home, ".config/cordon"), { recursive: true, mode: 0o755 });
      writeFileSync(join(scratch.home, ".config/cordon/config.json"), '{"permissions":{"deny":["Read(.env)"]}}');
    };

    test("C14 the files beside it stay open, by the same ways", async () => {
      for (const command of ["cat note.txt", "git show HEAD:note.txt", "head -c 3 ./n*.txt", "cat way/note.txt"])
        expect([command, (await call("bash", { command })).output?.stdout?.startsWith("KEY")]).toEqual([command, true]);
      expect(await call("read_file", { path: "way/note.txt" })).toMatchObject({ ok: true });
      expect(await call("grep_search", { pattern: "KEY", path: "note.txt" })).toMatchObject({ ok: true });
      expect(JSON.stringify(await call("grep_search", { pattern: "KEY" }))).not.toContain(".env");
      expect(existsSync(at("x"))).toBe(false);
    });
  });
});
