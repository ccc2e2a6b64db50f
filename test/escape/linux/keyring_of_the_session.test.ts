import { expect } from "bun:test";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt("E5 the session's keys can't be listed, read or added to", ["python3"], async ({ python }) => {
  const end = await python(`
for ring in (-1, -2, -3, -4, -5):
    for operation in (0, 6, 11, 3, 17):
        if call(${callNumber("keyctl")}, operation, ring, 0, 0, 0) >= 0: print("DONE", operation, ring)
    if call(${callNumber("add_key")}, b"user", b"planted", b"x", 1, ring) >= 0: print("DONE add", ring)
for path in ("/proc/keys", "/proc/key-users"):
    try: print("READ", open(path).read()) if open(path).read().strip() else print("empty")
    except OSError: print("closed")
print("own")
`);
  expect(end.code).toBe(0);
  expect(end.stdout).not.toContain("DONE");
  expect(end.stdout.endsWith("own\n")).toBe(true);
});
