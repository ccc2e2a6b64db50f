import { expect } from "bun:test";
import { attempt } from "../../support/attempt.ts";

attempt(
  "E5 a crash starts no program in core_pattern, which would run on the host as root",
  ["python3"],
  async ({ python }) => {
    // At a limit of exactly 1 the kernel starts none (coredump(5)); 0, which anyone may lower it to, stops files only.
    const lower = `
import resource as r
for limit in ((0, 0), (0, 1), (1, 0)):
    try: r.setrlimit(r.RLIMIT_CORE, limit)
    except (OSError, ValueError): pass
print(r.getrlimit(r.RLIMIT_CORE))`;
    expect((await python(lower)).stdout).toBe("(1, 1)\n");
    const raw = `
call(${process.arch === "arm64" ? 164 : 160}, 4, (ctypes.c_ulong * 2)(0, 0))
import resource; print(resource.getrlimit(resource.RLIMIT_CORE))`;
    expect((await python(raw)).stdout).toBe("(1, 1)\n");
    // The allowed twin: other limits can be lowered.
    const other = "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (64, 64)); print(r.getrlimit(r.RLIMIT_NOFILE))";
    expect((await python(other)).stdout).toBe("(64, 64)\n");
  },
);
