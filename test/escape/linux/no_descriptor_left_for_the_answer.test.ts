import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a caller without a free descriptor gets EMFILE, and no file is opened or left behind",
  ["python3"],
  async ({ scratch, python }) => {
    const kept = join(scratch.home, "kept.txt");
    writeFileSync(kept, "kept\n");

    const end = await python(`
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
held = []
try:
    while True: held.append(os.open("own", os.O_WRONLY | os.O_CREAT, 0o600))
except OSError as error: print(errno.errorcode[error.errno])
os.close(held.pop()); fd = os.open("own", os.O_WRONLY); print(os.write(fd, b"own"))
os.close(fd)
try: os.open("${kept}", os.O_WRONLY | os.O_TRUNC); print("OPENED")
except OSError: print("closed")
`);
    expect(readFileSync(kept, "utf8")).toBe("kept\n");
    expect(end).toMatchObject({ code: 0, stdout: "EMFILE\n3\nclosed\n" });
  },
);
