/** What a case is. `case.schema.json` is the same for readers in other languages; a test keeps the two alike. */
import { type Static, Type } from "@sinclair/typebox";

/** One line, or several that are joined with newlines. */
const Text = Type.Union([Type.String(), Type.Array(Type.String())]);
const Words = Type.Array(Type.String());
const strict = { additionalProperties: false };

/** What the tool is asked to enforce, in no tool's own words. Paths may be globs where `*`, `?`, `[` or `{` says so. */
const Policy = Type.Object(
  {
    write: Type.Optional(Words),
    write_deny: Type.Optional(Words),
    read: Type.Optional(Words),
    read_deny: Type.Optional(Words),
    network: Type.Optional(Type.Union([Type.Literal("none"), Type.Literal("open")])),
    unix: Type.Optional(Words),
    trust: Type.Optional(Type.Union([Type.Literal("block"), Type.Literal("report"), Type.Literal("allow")])),
    env_hide: Type.Optional(Words),
    env_pass: Type.Optional(Words),
    limits: Type.Optional(
      Type.Object(
        {
          memory: Type.Optional(Type.String()),
          processes: Type.Optional(Type.Integer()),
          file_size: Type.Optional(Type.String()),
          output: Type.Optional(Type.String()),
          seconds: Type.Optional(Type.Integer()),
        },
        strict,
      ),
    ),
    report: Type.Optional(Type.Literal("reads")),
  },
  strict,
);

/** What one place on the host must look like afterwards. */
const After = Type.Union([
  Type.Object({ path: Type.String(), is: Type.Literal("absent") }, strict),
  Type.Object({ path: Type.String(), is: Type.Union([Type.Literal("folder"), Type.Literal("symlink")]) }, strict),
  Type.Object({ path: Type.String(), is: Type.Literal("file"), text: Type.Optional(Type.String()) }, strict),
  Type.Object({ host: Text, prints: Type.String() }, strict),
  Type.Object({ same_tree: Type.String() }, strict),
  Type.Object({ no_process: Type.String() }, strict),
  Type.Object({ not_heard: Type.String() }, strict),
]);

/** One denial that the tool must report in a form that a program can read. Each must also name a grant, unless `grant` is false. */
const Event = Type.Object(
  {
    op: Type.Union([Type.Literal("write"), Type.Literal("read"), Type.Literal("connect"), Type.Literal("exec")]),
    path: Type.Optional(Type.String()),
    host: Type.Optional(Type.String()),
    grant: Type.Optional(Type.Boolean()),
  },
  strict,
);

const Signal = Type.Union([
  Type.Literal("TERM"),
  Type.Literal("INT"),
  Type.Literal("HUP"),
  Type.Literal("QUIT"),
  Type.Literal("USR1"),
  Type.Literal("KILL"),
]);

/** One case. The README says what each field means and which words in braces are replaced. */
export const Case = Type.Object(
  {
    id: Type.String({ pattern: "^[a-z0-9_]+$" }),
    title: Type.String(),
    wants: Type.Union([Type.Literal("allowed"), Type.Literal("refused")]),
    policy: Type.Optional(Policy),
    needs: Type.Optional(Words),
    feature: Type.Optional(
      Type.Union([
        Type.Literal("loopback"),
        Type.Literal("private_loopback"),
        Type.Literal("missing_paths"),
        Type.Literal("shared_limits"),
        Type.Literal("read_confined"),
        Type.Literal("metadata"),
        Type.Literal("own_sockets"),
      ]),
    ),
    fixture: Type.Optional(Type.Literal("repository")),
    setup: Type.Optional(Text),
    sh: Type.Optional(Text),
    python: Type.Optional(Text),
    argv: Type.Optional(Words),
    cwd: Type.Optional(Type.String()),
    env: Type.Optional(Type.Record(Type.String(), Type.String())),
    stdin: Type.Optional(Type.String()),
    descriptor: Type.Optional(Type.String()),
    signal: Type.Optional(Signal),
    together: Type.Optional(Type.Integer({ minimum: 2 })),
    status: Type.Optional(Type.Union([Type.Integer(), Type.Literal("failure"), Type.Literal("any")])),
    stdout: Type.Optional(Type.String()),
    stdout_has: Type.Optional(Words),
    stdout_lacks: Type.Optional(Words),
    stderr_has: Type.Optional(Words),
    stderr_lacks: Type.Optional(Words),
    after: Type.Optional(Type.Array(After)),
    events: Type.Optional(Type.Array(Event)),
  },
  strict,
);

/** A file of cases: one group of the score table. */
export const CaseFile = Type.Object(
  { $schema: Type.Literal("../case.schema.json"), group: Type.String(), cases: Type.Array(Case) },
  strict,
);

/** One case as data. */
export type Case = Static<typeof Case>;

/** What the tool is asked to enforce. */
export type Policy = Static<typeof Policy>;

/** A condition on the host afterwards. */
export type After = Static<typeof After>;

/** A denial that must be reported. */
export type ExpectedEvent = Static<typeof Event>;
