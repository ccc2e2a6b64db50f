import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../../support/attempt.ts";

attempt("E5 /proc/self/root, /proc/1/root and /proc/self/cwd are no way around", [], async ({ scratch, shell }) => {
  const own = join(scratch.home, "own.txt");
  writeFileSync(own, "mine\n");
  const roots = [
    "/proc/self/root",
    "/proc/1/root",
    "/proc/$$/root",
    "/proc/self/cwd/../../../../../..",
    "/proc/thread-self/root",
    `/proc/${process.pid}/root`,
  ];
  for (const root of roots) {
    const end = await shell(`cat ${root}${own}; echo x > ${root}${own}; echo x >> ${root}${own}`);
    expect(end.stdout).toBe("");
  }
  expect(readFileSync(own, "utf8")).toBe("mine\n");
  expect(await shell("echo a > /proc/self/cwd/a && cat /proc/self/root$(pwd)/a")).toMatchObject({
    code: 0,
    stdout: "a\n",
  });
});
