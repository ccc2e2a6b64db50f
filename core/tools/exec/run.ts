import type { SandboxRequest } from "../../contract/sandbox_request.ts";
import type { AnyTool } from "../../contract/tool.ts";

/**
 * The input of `run`. `timeoutMs` is milliseconds until the process tree is ended, null is no limit; `stdio` hands the terminal
 * over, with "replace" for good, or collects the output.
 */
export type RunInput = {
  argv: readonly string[];
  sandbox: SandboxRequest;
  timeoutMs: number | null;
  stdio: "inherit" | "collect" | "replace";
};

/**
 * Runs a program with its arguments as given, no shell between: `cordon run`. Errors: sandbox.unenforced, exec.*. Only the
 * command line makes its input, so the compiler checks it and no schema is needed; the guard is for what the compiler can't see.
 */
export const run: AnyTool = {
  name: "run",
  aliases: [],
  description: "Runs one program in the sandbox for the person who typed it. A model never sees this tool.",
  requires: "danger-full-access",
  input: { kind: "typed", accepts: isRunInput },
  decidedBy: "caller",
  doors: "run",
  readOnly: () => false,
  concurrencySafe: () => false,
  title: (args) => (isRunInput(args) ? `Run ${args.argv[0]}` : "Run a program"),
  check: (args) => {
    const { argv } = checked(args);
    if (argv[0] === "") return [{ path: "/argv/0", message: "is empty, and a program's name is wanted" }];
    const at = argv.findIndex((part) => part.includes("\0"));
    return at < 0 ? [] : [{ path: `/argv/${at}`, message: "has a NUL, which no argument can have" }];
  },
  needs: (args) => {
    const { argv, sandbox } = checked(args);
    return [{ kind: "exec", command: argv.map(quoteWord).join(" "), argv: [...argv], sandbox }];
  },
  run: async (args, { exec }) => {
    const { timeoutMs, stdio, sandbox } = checked(args);
    const { outputBytes } = sandbox.limits;
    const end = await exec.run({ timeoutMs, stdio, ...(outputBytes === undefined ? {} : { outputBytes }) });
    const { code: exitCode, signal, timedOut, cancelled, stdout, stderr, droppedBytes, limit } = end;
    const dropped = droppedBytes > 0 ? { droppedBytes } : {};
    const met = limit === undefined ? {} : { limit };
    return { exitCode, signal, timedOut, cancelled, ...met, stdout, stderr, ...dropped };
  },
};

function isRunInput(input: unknown): input is RunInput {
  if (typeof input !== "object" || input === null) return false;
  if (!("argv" in input && "sandbox" in input && "timeoutMs" in input && "stdio" in input)) return false;
  const { argv, sandbox, timeoutMs, stdio } = input;
  if (!Array.isArray(argv) || argv.length === 0 || !argv.every((part) => typeof part === "string")) return false;
  if (typeof sandbox !== "object" || sandbox === null) return false;
  if (timeoutMs !== null && !(Number.isSafeInteger(timeoutMs) && Number(timeoutMs) > 0)) return false;
  return stdio === "inherit" || stdio === "collect" || stdio === "replace";
}

function checked(args: unknown): RunInput {
  if (isRunInput(args)) return args;
  throw new TypeError("run was given something else than its own input");
}

/** The command as one line for people and the policy's record; nothing runs it. */
function quoteWord(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
