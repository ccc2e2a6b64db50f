import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a template, a clone or an archive brings no hook into a new repository",
  ["git"],
  async ({ scratch, shell }) => {
    await shell(`mkdir -p t/hooks; printf '#!/bin/sh\\ntouch planted\\n' > t/hooks/post-checkout; chmod +x t/hooks/post-checkout
git init -q --template=t one; GIT_TEMPLATE_DIR=$PWD/t git init -q two; git init -q plain; git clone -q --template=t plain three
mkdir -p four/x/hooks; cp t/hooks/* four/x/hooks/; mv four/x four/.git; mkdir -p tree/.gix/hooks; cp t/hooks/* tree/.gix/hooks/; mv tree/.gix tree/.git; tar cf a.tar -C t hooks && mkdir -p five/.git && tar xf a.tar -C five/.git`);
    for (const name of ["one", "two", "three", "four", "tree", "five"])
      expect(existsSync(join(scratch.work, name, ".git/hooks/post-checkout"))).toBe(false);
    expect((await shell("git init -q own && test -d own/.git/refs")).code).toBe(0);
  },
);
