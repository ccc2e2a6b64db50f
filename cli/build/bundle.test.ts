import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FLAGS } from "./bundle.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "cordon-bundle-"));
  writeFileSync(join(folder, "program.ts"), 'console.log("program", process.env.PLANTED ?? "clean");\n');
  writeFileSync(join(folder, ".env"), "PLANTED=planted\n");
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./planted.ts"]\n');
  writeFileSync(join(folder, "planted.ts"), 'console.log("planted code ran");\n');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles outside the folder with the planted files and runs inside it. */
function runCompiled(flags: string[]): string {
  const out = mkdtempSync(join(tmpdir(), "cordon-bundle-out-"));
  try {
    const program = join(out, "program");
    const args = ["build", ...flags, join(folder, "program.ts"), "--outfile", program];
    const build = Bun.spawnSync([process.execPath, ...args], { cwd: out });
    expect(build.stderr.toString()).toBe("");
    return Bun.spawnSync([program], { cwd: folder, env: { PATH: process.env.PATH } }).stdout.toString();
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

test("a .env file and a bunfig.toml in the workspace do not reach the executable", () => {
  expect(runCompiled(FLAGS)).toBe("program clean\n");
});

test("without our flags they would: the test above tests something", () => {
  expect(runCompiled(FLAGS.filter((flag) => !flag.startsWith("--no-compile-autoload")))).toBe(
    "planted code ran\nprogram planted\n",
  );
});
