import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E4 a Unix socket is not bound at a name that other tools obey, nor outside the workspace",
  ["python3"],
  async ({ scratch, python }) => {
    const bind = (path: string) =>
      python(`s = socket.socket(socket.AF_UNIX); s.bind("${path}"); print(s.getsockname())`);
    const outside = join(scratch.top, "out.sock");
    for (const path of [".envrc", "/proc/self/cwd/.envrc", outside]) {
      expect((await bind(path)).stderr).toMatch(/PermissionError|FileNotFoundError|OSError/);
    }
    expect(existsSync(join(scratch.work, ".envrc"))).toBe(false);
    expect(existsSync(outside)).toBe(false);
    // The allowed twin: the name is told as it was written, links on the way too.
    expect((await bind("own.sock")).stdout).toBe("own.sock\n");
    expect((await python(`os.mkdir("d"); os.symlink("d", "l")`)).code).toBe(0);
    expect((await bind("l/own.sock")).stdout).toBe("l/own.sock\n");
    expect((await bind("l/own.sock")).stderr).toContain("Address already in use");
  },
);
