import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";
import { runCordon, SYSTEM_PATH } from "../../support/run_cordon.ts";

attempt(
  "E5 a link planted where PATH has a folder of the workspace opens nothing",
  [],
  async ({ scratch, around, shell }) => {
    const { work, top } = scratch;
    mkdirSync(join(top, "private"));
    writeFileSync(join(top, "private/note"), "private");
    mkdirSync(join(work, "bin"));
    // What npm and direnv do: a folder of the project stands in PATH of the person's shell.
    const env = { PATH: `${join(work, "planted")}:${join(work, "bin")}:${SYSTEM_PATH}` };
    expect((await shell(`ln -s ${join(top, "private")} planted`)).code).toBe(0);
    const read = await runCordon(["run", "--", "cat", join(top, "private/note")], { ...around, env });
    expect(read).toMatchObject({ stdout: "" });
    expect(read.code).not.toBe(0);
    // The allowed twin: a program in the project's own folder is found.
    writeFileSync(join(work, "bin/own"), "#!/bin/sh\necho found\n", { mode: 0o755 });
    expect(await runCordon(["run", "--", "own"], { ...around, env })).toMatchObject({ code: 0, stdout: "found\n" });
  },
);
