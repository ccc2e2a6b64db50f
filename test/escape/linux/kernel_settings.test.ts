import { expect } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { attempt } from "../../support/attempt.ts";

/** Each makes the kernel run a program, or stop: core_pattern starts one for every crash, on the host and as root. */
const SETTINGS = [
  "/proc/sys/kernel/core_pattern",
  "/proc/sys/kernel/poweroff_cmd",
  "/sys/kernel/uevent_helper",
  "/proc/sys/fs/binfmt_misc/register",
  "/sys/fs/cgroup/cgroup.procs",
];

attempt("E5 settings through which the kernel runs programs can't be written", [], async ({ shell }) => {
  for (const setting of SETTINGS.filter((path) => existsSync(path))) {
    const readable = !/register|procs/.test(setting);
    const before = readable ? readFileSync(setting, "utf8").trimEnd() : "";
    // The value that stands there already: a hole must not break the machine that finds it.
    const end = await shell(`{ printf '%s' '${before}' > ${setting}; } && echo written`);
    expect([setting, end.stdout]).toEqual([setting, ""]);
  }
  expect((await shell(": > /proc/sysrq-trigger && echo written")).stdout).toBe("");
  // The allowed twin: they can be read, as build tools do.
  const release = readFileSync("/proc/sys/kernel/osrelease", "utf8");
  expect(await shell("cat /proc/sys/kernel/osrelease")).toMatchObject({ code: 0, stdout: release });
});
