import { type TLiteral, Type } from "@sinclair/typebox";
import type { Property } from "../../contract/plan.ts";
import { defineTool } from "../define_tool.ts";

/** Every property a caller can demand; the compiler checks that none of the contract's is missing. */
const properties = () =>
  ({
    "fs.write_confined": Type.Literal("fs.write_confined"),
    "fs.read_confined": Type.Literal("fs.read_confined"),
    "fs.read_hidden": Type.Literal("fs.read_hidden"),
    "fs.protected": Type.Literal("fs.protected"),
    "net.blocked": Type.Literal("net.blocked"),
    "net.loopback": Type.Literal("net.loopback"),
    "proc.isolated": Type.Literal("proc.isolated"),
    "env.scrubbed": Type.Literal("env.scrubbed"),
    "keyring.blocked": Type.Literal("keyring.blocked"),
    "syscalls.filtered": Type.Literal("syscalls.filtered"),
    limits: Type.Literal("limits"),
  }) satisfies { [P in Property]: TLiteral<P> };

const paths = (description: string) => Type.Array(Type.String({ minLength: 1 }), { description });

/** Runs a program with its arguments as given, no shell between: `cordon run`. Errors: sandbox.unenforced, exec.*. */
export const run = defineTool({
  name: "run",
  aliases: [],
  description: "Runs one program in the sandbox for the person who typed it. A model never sees this tool.",
  requires: "danger-full-access",
  params: () =>
    Type.Object(
      {
        argv: Type.Array(Type.String(), { minItems: 1, description: "The program and its arguments" }),
        sandbox: sandboxSchema(),
        timeoutMs: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
          description: "Milliseconds until the process tree is ended; null is no limit",
        }),
        stdio: Type.Union([Type.Literal("inherit"), Type.Literal("collect")], {
          description: "inherit hands over the terminal, collect returns the output",
        }),
      },
      { additionalProperties: false },
    ),
  decidedBy: "caller",
  doors: "run",
  readOnly: () => false,
  concurrencySafe: () => false,
  title: (args) => `Run ${args.argv?.[0] ?? "a program"}`,
  check: (args) => {
    if (args.argv[0] === "") return [{ path: "/argv/0", message: "is empty, and a program's name is wanted" }];
    const at = args.argv.findIndex((part) => part.includes("\0"));
    return at < 0 ? [] : [{ path: `/argv/${at}`, message: "has a NUL, which no argument can have" }];
  },
  needs: (args) => [
    { kind: "exec", command: args.argv.map(quoteWord).join(" "), argv: args.argv, sandbox: args.sandbox },
  ],
  run: async (args, { exec }) => {
    const end = await exec.run({ timeoutMs: args.timeoutMs, stdio: args.stdio });
    const { code: exitCode, signal, timedOut, cancelled, stdout, stderr, droppedBytes } = end;
    const dropped = droppedBytes > 0 ? { droppedBytes } : {};
    return { exitCode, signal, timedOut, cancelled, stdout, stderr, ...dropped };
  },
});

function sandboxSchema() {
  return Type.Object(
    {
      allowRead: paths("Folders and files to show beside the policy's"),
      allowWrite: paths("Folders and files to make writable beside the policy's"),
      denyRead: paths("Paths to hide"),
      denyWrite: paths("Paths to make read-only"),
      network: Type.Union([Type.Literal("policy"), Type.Literal("open"), Type.Literal("blocked")], {
        description: "policy keeps the default, open shares the host's network, blocked demands none",
      }),
      allowEnv: Type.Union([Type.Array(Type.String({ minLength: 1 })), Type.Literal("all")], {
        description: "Names of environment variables to pass, or all that do not look like secrets",
      }),
      require: Type.Array(Type.Union(Object.values(properties())), {
        description: "Properties without which nothing runs",
      }),
      onlyWrite: Type.Optional(paths("Writable folders instead of the workspace")),
    },
    { additionalProperties: false, description: "What this command asks of the sandbox beyond the policy" },
  );
}

/** One word as a shell would read it back; for messages, rules and the audit log, never for running. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
