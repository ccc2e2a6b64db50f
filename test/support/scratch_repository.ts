import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratchEnvironment } from "./run_cordon.ts";
import type { Scratch } from "./scratch.ts";

/** A project that git, make, cc, node and python can do something with. */
const FILES: Readonly<Record<string, string>> = {
  "README.md": "# A project\n",
  ".gitignore": "built\nhello\n",
  Makefile: "built: README.md\n\twc -l < README.md > built\n",
  "hello.c": '#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n',
  "sum.test.mjs":
    'import test from "node:test";\nimport assert from "node:assert";\ntest("adds", () => assert.equal(1 + 1, 2));\n',
};

/** Makes the workspace a git repository with one commit, on the host, with git itself. */
export function makeRepository(scratch: Scratch): void {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(scratch.work, name), text);
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["config", "user.name", "A Person"],
    ["config", "user.email", "person@example.org"],
    ["add", "."],
    ["commit", "-q", "-m", "Start"],
  ]) {
    git(scratch, args);
  }
}

/** Runs git on the host in the workspace and returns what it prints. Throws when it fails. */
export function git(scratch: Scratch, args: string[]): string {
  const end = Bun.spawnSync(["git", ...args], { cwd: scratch.work, env: scratchEnvironment(scratch) });
  if (end.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${end.stderr.toString()}`);
  return end.stdout.toString();
}
