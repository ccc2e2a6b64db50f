import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 no file gets capabilities or trusted attributes, so nothing is planted for root to run",
  ["python3"],
  async ({ python }) => {
    const end = await python(`
open("own", "w").close()
for name in ("security.capability", "trusted.overlay.opaque"):
    try: os.setxattr("own", name, b"\\x01\\x00\\x00\\x02" + b"\\xff" * 16); print("SET", name)
    except OSError: print("refused")
os.chmod("own", 0o700); print("own")
`);
    expect(end).toMatchObject({ code: 0, stdout: `${"refused\n".repeat(2)}own\n` });
  },
);
