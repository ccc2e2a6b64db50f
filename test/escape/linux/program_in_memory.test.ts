import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, callNumber } from "../../support/attempt.ts";

attempt("E5 a program that exists in memory only is as confined as any", ["python3"], async ({ scratch, python }) => {
  const own = join(scratch.home, "own.txt");
  writeFileSync(own, "mine\n");
  const end = await python(`
fd = call(${callNumber("memfd_create")}, b"x", 0)
os.write(fd, open("/bin/sh", "rb").read())
script = "cat ${own}; echo x > ${own}; grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status"
os.execve(f"/proc/self/fd/{fd}", ["sh", "-c", script], os.environ)
`);
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  expect(end.stdout).not.toContain("mine");
  // Either it does not run at all, or it runs as confined: both keep the promise.
  if (end.code === 0) expect(end.stdout).toBe("NoNewPrivs:\t1\nSeccomp:\t2\n");
});
