import { describe, expect, test } from "bun:test";
import { ToolFault } from "@cordon/core/contract";
import { readFlags } from "../flags.ts";
import { emptyRunDraft, RUN_FLAGS } from "./run_flags.ts";

const folders = { cwd: "/ws/app", home: "/home/ann" };

function read(...args: string[]) {
  const draft = emptyRunDraft();
  const argv = readFlags(args, draft, { table: RUN_FLAGS, words: "command", folders });
  return { draft, argv };
}

function fault(...args: string[]): ToolFault {
  try {
    read(...args);
  } catch (error) {
    if (error instanceof ToolFault) return error;
    throw error;
  }
  throw new Error(`${args.join(" ")} was accepted`);
}

describe("F5: the flags of run", () => {
  test("everything behind -- belongs to the command", () => {
    const { draft, argv } = read("--allow-read=src", "--", "cat", "--allow-write", "--", "x");
    expect(argv).toEqual(["cat", "--allow-write", "--", "x"]);
    expect(draft).toEqual({ ...emptyRunDraft(), allowRead: ["/ws/app/src"] });
  });
  test("the first word starts the command, too", () => {
    expect(read("--timeout", "2m", "npm", "test", "--", "--grep", "x")).toEqual({
      draft: { ...emptyRunDraft(), timeoutMs: 120_000 },
      argv: ["npm", "test", "--", "--grep", "x"],
    });
  });
  test("a bare --allow-read is the whole file system, and repeated flags add up", () => {
    expect(read("--allow-read", "--allow-write=a", "--allow-write=b,c", "--", "x").draft).toMatchObject({
      allowRead: ["/"],
      allowWrite: ["/ws/app/a", "/ws/app/b", "/ws/app/c"],
    });
  });
  test("a bare --allow-env is all, whatever stands beside it", () => {
    expect(read("--allow-env", "--allow-env=CI", "--", "x").draft.allowEnv).toBe("all");
    expect(read("--allow-env=CI,HOME", "--", "x").draft.allowEnv).toEqual(["CI", "HOME"]);
  });
  test("limits, sockets and what becomes of trusted files", () => {
    const { draft } = read("--memory=2G", "--pids", "512", "--cpu=50%", "--file-size=1G", "--output=10M", "x");
    const limits = { memoryBytes: 2 * 1024 ** 3, processes: 512, cpuPercent: 50, fileBytes: 1024 ** 3 };
    expect(draft.limits).toEqual({ ...limits, outputBytes: 10 * 1024 ** 2 });
    const sockets = read("--trust-files=report", "--report=reads", "--allow-unix=~/a.sock,/run/b", "x").draft;
    expect(sockets).toMatchObject({
      trustFiles: "report",
      reportReads: true,
      allowUnix: ["/home/ann/a.sock", "/run/b"],
    });
  });
  test("a value in the next word can't start with a dash", () => {
    expect(fault("--deny-read", "--", "cat").message).toContain("needs a value");
    expect(read("--deny-read=-x", "--", "cat").draft.denyRead).toEqual(["/ws/app/-x"]);
  });
  test("both net flags are kept, so that deny can win", () => {
    expect(read("--deny-net", "--allow-net", "--", "x").draft).toMatchObject({ allowNet: true, denyNet: true });
  });
  test("a word behind a bare flag that can have a value is refused, since it would run", () => {
    expect(fault("--allow-read", "/etc", "--", "cat").message).toContain("not clear");
    expect(read("--allow-read", "--", "/etc").argv).toEqual(["/etc"]);
  });
});

test("C12 --profile names one, and needs a name", () => {
  expect(read("--profile", "ci", "--", "x").draft.profile).toBe("ci");
  expect(fault("--profile", "--", "x").message).toContain("--profile");
});

describe("F5: no flag is ever ignored", () => {
  test.each(["--allow-net=example.org", "--deny-net=example.org"])(
    "%s is known, and refused in this version",
    (line) => {
      expect(fault(...line.split(" "), "--", "x")).toMatchObject({
        code: "usage",
        message: expect.stringContaining("can't be used"),
      });
    },
  );
  test("an unknown flag names the nearest", () => {
    expect(fault("--alow-read=/x", "--", "x")).toMatchObject({ code: "usage", hint: "did you mean --allow-read?" });
  });
  test.each(["-x", "---", "--allow-read-", "--__proto__", "--constructor", "--toString=1"])(
    "%s never becomes a flag",
    (flag) => {
      expect(fault(flag, "--", "x").code).toBe("usage");
    },
  );
  test.each([
    "--deny-read",
    "--deny-write=",
    "--timeout",
    "--require=",
    "--require=fs.writ",
    "--explain=yes",
    "--events=",
    "--mode=fast",
    "--trust-files=maybe",
    "--report=writes",
    "--memory=lots",
    "--allow-unix=",
  ])("%s without a usable value is refused", (flag) => {
    expect(["usage", "config.invalid"]).toContain(fault(flag).code);
  });
});
