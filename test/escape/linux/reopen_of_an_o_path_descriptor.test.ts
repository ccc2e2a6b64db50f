import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 an O_PATH descriptor can't be reopened with more rights", ["python3"], async ({ scratch, python }) => {
  const own = join(scratch.home, "own.txt");
  writeFileSync(own, "mine\n");
  const end = await python(`
for path in ("${own}", "/etc/passwd", "/"):
    try: fd = os.open(path, os.O_PATH)
    except OSError: print("refused"); continue
    for name in (f"/proc/self/fd/{fd}", f"/dev/fd/{fd}"):
        try: os.open(name, os.O_RDWR); print("reopened", path)
        except OSError: print("refused")
    try: print("opened", os.open("${own}".lstrip("/"), os.O_RDWR, dir_fd=fd))
    except OSError: print("refused")
`);
  expect(end.code).toBe(0);
  expect(end.stdout).not.toMatch(/opened/);
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  const twin = await python(`
open("made", "w").write("x"); fd = os.open("made", os.O_PATH)
os.write(os.open(f"/proc/self/fd/{fd}", os.O_WRONLY), b"y"); print(open("made").read())`);
  expect(twin).toMatchObject({ code: 0, stdout: "y\n" });
});
