import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";
import { runCordon } from "../../support/run_cordon.ts";

attempt(
  "E5 a removed folder, or one whose name says so, is no way around closed names",
  ["python3"],
  async ({ scratch, around }) => {
    const script = `
import os
os.mkdir("gone"); fd = os.open("gone", os.O_RDONLY); os.rmdir("gone")
for action in (lambda: os.open("x.closed", os.O_CREAT | os.O_WRONLY, dir_fd=fd), lambda: os.mkdir("d", dir_fd=fd), lambda: os.open("fine", os.O_CREAT | os.O_WRONLY, dir_fd=fd)):
    try: action(); print("DONE")
    except OSError: print("refused")
os.mkdir("d (deleted)"); fd = os.open("d (deleted)", os.O_RDONLY)
try: os.open("x.closed", os.O_CREAT | os.O_WRONLY, dir_fd=fd); print("DONE")
except OSError: print("refused")
os.close(os.open("fine", os.O_CREAT | os.O_WRONLY, dir_fd=fd)); print(os.listdir("d (deleted)"))
`;
    const end = await runCordon(
      ["run", `--deny-write=${scratch.work}/**/*.closed`, "--", "python3", "-c", script],
      around,
    );
    expect(end).toMatchObject({ code: 0, stdout: `${"refused\n".repeat(4)}['fine']\n` });
  },
);
