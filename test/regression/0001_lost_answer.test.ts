import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cordonPath, scratchEnvironment } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
  writeFileSync(join(scratch.work, "a"), "text\n");
});
afterEach(() => removeScratch(scratch));

/** Runs cordon with stdout at a file of the shell's choice. */
function cordonTo(stdout: string, ...args: string[]): { code: number; stderr: string } {
  const end = Bun.spawnSync(["sh", "-c", `exec "$0" "$@" >${stdout}`, cordonPath(), ...args], {
    cwd: scratch.work,
    env: scratchEnvironment(scratch),
    stdin: null,
  });
  return { code: end.exitCode, stderr: end.stderr.toString() };
}

const COMMANDS = [
  ["--help"],
  ["run", "--help"],
  ["tools"],
  ["doctor"],
  ["call", "read_file", '{"path":"a"}'],
  ["serve"],
];

for (const args of COMMANDS) {
  test(`F5: cordon ${args[0]} ${args[1] ?? ""} does not say 0 when its answer meets a full disk, and does when it is taken`, () => {
    expect(cordonTo("/dev/full", ...args)).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^cordon: fs\.io: Cannot write the answer to stdout: ENOSPC\n {2}hint: /),
    });
    expect(cordonTo("/dev/null", ...args)).toEqual({ code: 0, stderr: "" });
  });
}

test("E9: an events file that can't take a denial is told about once, and the command's code stays", () => {
  const script = "echo x > ../home/.bashrc; echo x > ../home/.profile; exit 7";
  const end = cordonTo("/dev/null", "run", "--events", "/dev/full", "--", "sh", "-c", script);
  expect(end.code).toBe(7);
  expect(end.stderr.match(/the file of --events is not complete: ENOSPC/g)).toHaveLength(1);
});
