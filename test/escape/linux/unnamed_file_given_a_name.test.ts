import { expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a file without a name gets none outside, by whatever way of linking",
  ["python3"],
  async ({ scratch, python }) => {
    const outside = join(scratch.top, "outside");
    mkdirSync(outside);
    const end = await python(`
fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644); os.write(fd, b"own")
for name in (b"${outside}/new", b"${scratch.home}/new"):
    for source, path, flags in ((fd, b"", 0x1000), (-100, f"/proc/self/fd/{fd}".encode(), 0x400), (-100, f"/dev/fd/{fd}".encode(), 0x400), (-100, f"/proc/thread-self/fd/{fd}".encode(), 0x400)):
        print("LINKED" if libc.linkat(source, path, -100, name, flags) == 0 else "refused")
print(libc.linkat(-100, f"/proc/self/fd/{fd}".encode(), -100, b"own", 0x400), open("own").read())
`);
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(join(scratch.home, "new"))).toBe(false);
    expect(end).toMatchObject({ code: 0, stdout: `${"refused\n".repeat(8)}0 own\n` });
  },
);
