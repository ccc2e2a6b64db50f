import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a file that the host obeys is not made by any spelling of its name",
  ["python3"],
  async ({ scratch, python }) => {
    const end = await python(`
folder = os.open(".", os.O_RDONLY); os.mkdir("d"); os.symlink(".", "here"); open("own", "w").write("own")
here = os.getcwd()
for path in (".envrc", "./.envrc", "d/../.envrc", f"{here}/.envrc", f"//{here}//.envrc", "here/.envrc", "here/here/.envrc", "/proc/self/cwd/.envrc", f"/proc/self/fd/{folder}/.envrc", f"/dev/fd/{folder}/.envrc", f"/proc/self/root{here}/.envrc", f"/proc/{os.getpid()}/cwd/.envrc"):
    for action in (lambda: os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), lambda: os.mkdir(path), lambda: os.symlink("own", path), lambda: os.link("own", path), lambda: os.rename("own", path), lambda: os.mknod(path)):
        try: action(); print("MADE", path)
        except OSError: pass
try: os.open(".envrc", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=folder); print("MADE")
except OSError: pass
os.symlink(".envrc", "later")
try: open("later", "w"); print("MADE")
except OSError: pass
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
if libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, b".envrc", 0x400) == 0: print("MADE")
open(".envrc.example", "w").write("own"); print(sorted(os.listdir(".")))
`);
    expect(existsSync(join(scratch.work, ".envrc"))).toBe(false);
    expect(end).toMatchObject({ code: 0, stdout: "['.envrc.example', 'd', 'here', 'later', 'own']\n" });
  },
);
