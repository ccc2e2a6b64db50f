import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt("E5 no device node is made, by root neither; pipes are", ["python3"], async ({ python }) => {
  const end = await python(`
import stat
for name, kind, device in (("disk", stat.S_IFBLK, (8, 0)), ("virtual", stat.S_IFBLK, (254, 0)), ("memory", stat.S_IFCHR, (1, 1)), ("zero", stat.S_IFCHR, (1, 5)), ("tty", stat.S_IFCHR, (5, 0))):
    try: os.mknod(name, kind | 0o600, os.makedev(*device)); print("MADE", name)
    except OSError as error: print(errno.errorcode[error.errno])
os.mkfifo("pipe"); os.mknod("file", stat.S_IFREG | 0o600); print(sorted(os.listdir(".")))
`);
  expect(end).toMatchObject({ code: 0, stdout: `${"EPERM\n".repeat(5)}['file', 'pipe']\n` });
});
