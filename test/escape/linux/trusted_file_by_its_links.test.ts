import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a file that the host obeys is not changed through a hard link, a rename or a descriptor",
  ["sh"],
  async ({ scratch, shell }) => {
    const envrc = join(scratch.work, ".envrc");
    writeFileSync(envrc, "first\n");
    await shell(
      "ln .envrc h; echo evil > h; mv .envrc m; echo evil > m; mv m .envrc; exec 5< .envrc; echo evil > /proc/self/fd/5; echo evil > n; mv n .envrc; cp --remove-destination n .envrc; ln -sf n .envrc; truncate -s 0 .envrc; rm -f .envrc",
    );
    expect(readFileSync(envrc, "utf8")).toBe("first\n");
    expect(await shell("cat .envrc; echo own > own; cat own")).toMatchObject({ code: 0, stdout: "first\nown\n" });
  },
);
