import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 in folders deeper than a path can say, nothing closed is made",
  ["python3"],
  async ({ scratch, around }) => {
    const script = `
import os
name, depth = "d" * 200, 0
try:
    while depth < 30: os.mkdir(name); os.chdir(name); depth += 1
except OSError: pass
for action in (lambda: open("x.closed", "w"), lambda: os.mkdir("x.closed"), lambda: os.symlink("a", "x.closed")):
    try: action(); print("OPENED")
    except OSError: print("closed")
print(os.listdir("."), depth > 15)
for number in range(depth): os.chdir(".."); os.rmdir(name)
open("fine", "w").write("own"); print(open("fine").read())
`;
    const end = await runCordon(
      ["run", `--deny-write=${scratch.work}/**/*.closed`, "--", "python3", "-c", script],
      around,
    );
    expect(end).toMatchObject({ code: 0, stdout: "closed\nclosed\nclosed\n[] True\nown\n" });
  },
);
