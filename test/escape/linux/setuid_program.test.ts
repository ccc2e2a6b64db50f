import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

const PROBE = "grep -E '^(Uid|CapEff):' /proc/self/status";

attempt("E5 a setuid program gives nothing", ["grep"], async ({ shell }) => {
  const before = await shell(PROBE);
  expect(before.code).toBe(0);
  // A copy with the bit set, made inside; and su and mount of the system, which have it on most machines.
  await shell("cp $(command -v sh) own && chmod 6755 own");
  const end = await shell(`./own -p -c "${PROBE}"`);
  expect(end.stdout).toBe(before.stdout);
  for (const program of ["su -c id", "mount -t tmpfs none .", "newgrp root -c id", "passwd -S"])
    expect((await shell(`${program} < /dev/null`)).stdout).not.toContain("CapEff");
  expect(before.stdout).toContain(`CapEff:\t${"0".repeat(16)}`);
});
