import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CordonCore, createCore, type World } from "@cordon/core";
import type { SandboxRequest, ToolResult } from "@cordon/core/contract";
import { DEFAULT_SANDBOX_REQUEST } from "@cordon/core/contract";
import type { Cli, Command } from "../command.ts";
import { EXIT, exitCodeOf } from "../exit_codes.ts";
import { COMMON_FLAGS, type CommonDraft, emptyCommonDraft, readFlagsOnly } from "../flags.ts";
import { NOBODY } from "../nobody.ts";
import { renderDenial } from "../ui/denial_reporter.ts";
import { printHelp } from "../ui/help.ts";
import { paint, showError, usesColour } from "../ui/messages.ts";
import { visibleText } from "../ui/visible_text.ts";
import { writeAnswer } from "../ui/write_fully.ts";

/** Four commands in at most ten seconds. */
const STOP_MS = 2_400;
const SECRET = "sk-tour-5b1f7c2e";
const SHELL_START = "# your shell starts with this file\n";

/** `cordon tour`: shows what is allowed and what is refused, in a scratch folder. */
export const command: Command<CommonDraft> = {
  name: "tour",
  summary: "Show an allowed write, a refused write, a hidden secret and a blocked connection",
  usage: "cordon tour",
  details: `Makes a temporary folder with a small project, a home and a made-up secret, runs four real commands in the sandbox, and
removes all it made. Your own files are not touched. Exit code 0 when all four went as promised.`,
  flags: COMMON_FLAGS,
  examples: [["cordon tour", "takes a second or two"]],
  run: async (args, cli) => {
    const draft = emptyCommonDraft();
    readFlagsOnly(args, draft, { command, cli });
    if (draft.help) return printHelp(command);
    return tour(cli);
  },
};

type Scene = { project: string; home: string; port: number; connections: () => number };

/** `shows` is said when it went as promised; `holds` looks at the outside, not at what the command said. */
type Stop = {
  title: string;
  argv: (scene: Scene) => string[];
  shows: string;
  holds: (end: End, scene: Scene) => boolean;
};
type End = { exitCode: number | null; stdout: string };

const STOPS: readonly Stop[] = [
  {
    title: "A write in the project is allowed",
    argv: () => ["sh", "-c", "echo built > result.txt && cat result.txt"],
    shows: "the file is there",
    holds: (end, { project }) => end.exitCode === 0 && readOr(join(project, "result.txt"), "") === "built\n",
  },
  {
    title: "A write to the shell's start file in the home is refused",
    argv: ({ home }) => ["sh", "-c", 'echo "alias ls=evil" >> "$1"', "sh", join(home, ".bashrc")],
    shows: "the command failed and the file is unchanged",
    holds: (end, { home }) => end.exitCode !== 0 && readOr(join(home, ".bashrc"), "") === SHELL_START,
  },
  {
    title: "A secret in the project is hidden",
    argv: () => ["cat", ".env"],
    shows: "the command did not get it",
    holds: (end, { project }) => !end.stdout.includes(SECRET) && readOr(join(project, ".env"), "").includes(SECRET),
  },
  {
    title: "A connection to a program outside is blocked",
    argv: ({ port }) => ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${port}`],
    shows: "the listener outside saw nobody",
    // One connection is our own, made from outside to show that the listener listens.
    holds: (end, { connections }) =>
      end.exitCode !== null && end.exitCode !== 0 && end.exitCode !== 127 && connections() === 1,
  },
];

async function tour(cli: Cli): Promise<number> {
  const root = realpathSync(mkdtempSync(join(cli.world.env["TMPDIR"] ?? "/tmp", "cordon-tour-")));
  let connections = 0;
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: () => void connections++, data: () => {} },
  });
  try {
    const scene = {
      project: join(root, "project"),
      home: join(root, "home"),
      port: listener.port,
      connections: () => connections,
    };
    furnish(scene);
    const probe = await Bun.connect({ hostname: "127.0.0.1", port: listener.port, socket: { data: () => {} } });
    probe.end();
    return await walk(scene, cli);
  } finally {
    listener.stop(true);
    rmSync(root, { recursive: true, force: true });
  }
}

function furnish({ project, home }: Scene): void {
  mkdirSync(project);
  mkdirSync(home);
  writeFileSync(join(project, "README.md"), "A small project\n");
  writeFileSync(join(project, ".env"), `API_KEY=${SECRET}\n`);
  writeFileSync(join(home, ".bashrc"), SHELL_START);
}

async function walk(scene: Scene, cli: Cli): Promise<number> {
  const { PATH = "/usr/bin:/bin", LANG } = cli.world.env;
  // The person's settings stay out: the tour shows the defaults, and its log goes where the rest of it goes.
  const world: World = { ...cli.world, cwd: scene.project, env: { PATH, HOME: scene.home, ...(LANG ? { LANG } : {}) } };
  const core = createCore({ world, asker: NOBODY, background: "refused" });
  const good = usesColour(cli, 1) ? paint("32", "as promised") : "as promised";
  const bad = usesColour(cli, 1) ? paint("31", "NOT AS PROMISED") : "NOT AS PROMISED";
  let kept = 0;
  try {
    for (const [index, stop] of STOPS.entries()) {
      const result = await visit(stop, scene, core);
      if (!result.ok) {
        showError(cli, result.error);
        return exitCodeOf(result.error.code);
      }
      const holds = stop.holds(readEnd(result.output), scene);
      if (holds) kept++;
      writeAnswer(`\n${index + 1}. ${stop.title}\n   $ cordon run -- ${stop.argv(scene).map(quoteWord).join(" ")}\n`);
      for (const denial of result.meta.denials ?? []) writeAnswer(`   ${renderDenial(denial)}\n`);
      writeAnswer(`   ${holds ? `${good}: ${stop.shows}` : `${bad}: ${JSON.stringify(result.output)}`}\n`);
    }
  } finally {
    await core.close();
  }
  writeAnswer(`\n${kept} of ${STOPS.length} went as promised. Next: cordon run -- your command\n`);
  return kept === STOPS.length ? EXIT.ok : EXIT.toolError;
}

function visit(stop: Stop, scene: Scene, core: CordonCore): Promise<ToolResult> {
  const sandbox: SandboxRequest = DEFAULT_SANDBOX_REQUEST;
  const input = { argv: stop.argv(scene), sandbox, timeoutMs: STOP_MS, stdio: "collect" };
  return core.dispatch({ id: "tour", door: "tour", tool: "run", input, signal: new AbortController().signal });
}

function readEnd(output: unknown): End {
  const fields: Partial<Record<string, unknown>> = typeof output === "object" && output !== null ? { ...output } : {};
  const { exitCode, stdout } = fields;
  return { exitCode: typeof exitCode === "number" ? exitCode : null, stdout: typeof stdout === "string" ? stdout : "" };
}

function readOr(path: string, fallback: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return fallback;
  }
}

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${visibleText(word).replaceAll("'", "'\\''")}'`;
}
