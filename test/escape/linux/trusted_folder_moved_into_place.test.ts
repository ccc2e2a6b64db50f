import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a folder with files that the host obeys is not moved, unpacked or linked into place",
  ["tar"],
  async ({ scratch, shell }) => {
    await shell(`mkdir -p a/w b; echo evil > a/w/x.yml; mv a/w a/workflows; mv a .github
mkdir v; echo evil > v/tasks.json; mv v .vscode; ln -s v .idea; mkdir c; echo evil > c/settings.json; tar cf c.tar --transform s/^c/.claude/ c; tar xf c.tar; cp -r v .devcontainer
mkdir -p deep/x; echo evil > deep/x/pre-commit; mv deep/x deep/.husky; mkdir -p e/.husk; echo evil > e/.husk/pre-commit; mv e f; mv f/.husk f/.husky`);
    for (const path of [
      ".github/workflows/x.yml",
      ".vscode/tasks.json",
      ".idea/tasks.json",
      ".claude/settings.json",
      ".devcontainer/tasks.json",
      "deep/.husky/pre-commit",
      "f/.husky/pre-commit",
    ])
      expect(`${path} ${existsSync(join(scratch.work, path))}`).toBe(`${path} false`);
    expect(
      (
        await shell(
          "mkdir -p node_modules/p/.github/workflows && echo own > node_modules/p/.github/workflows/x.yml && mkdir -p src/github && mv src lib",
        )
      ).code,
    ).toBe(0);
  },
);
