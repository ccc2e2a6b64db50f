import { chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { SYSTEM_PATH, missingPrograms } from "../support/run_cordon.ts";
import { giveTo } from "../support/scratch.ts";
import { type Adapter, featuresOf, type Launch } from "./adapters/adapter.ts";
import type { GroupedCase } from "./load_cases.ts";
import type { HostServices } from "./host_services.ts";
import { processesAbout, treeOf } from "./host_state.ts";
import { judge, joined, type Observed } from "./judge.ts";
import { asUser, fill, makePlace, removePlace, type Place } from "./place.ts";

/** What a case came to in one adapter. `why` says it for all but `passed`. */
export type Outcome = { state: "passed" } | { state: "failed" | "not_applicable" | "skipped"; why: string };

/** Longer than any case needs: it only ends those that hang. */
const PATIENCE_MS = 20_000;

const PRELUDE = readFileSync(join(import.meta.dir, "probe.py"), "utf8");

/** Told on stderr by the command itself before anything else: a tool that starts nothing refuses everything. */
const STARTED = "@started\n";

const REPOSITORY = `git init -q -b main && git config user.name Ada && git config user.email ada@example.org &&
echo one > tracked.txt && git add . && git commit -q -m Start`;

/** Plays one case: makes its folders, runs its setup on the host, the command in the tool, and looks at what came of it. */
export async function runCase(raw: GroupedCase, adapter: Adapter, services: HostServices): Promise<Outcome> {
  const lacking = featuresOf(raw).filter((feature) => !adapter.can.has(feature));
  if (lacking.length > 0) return { state: "not_applicable", why: `has no ${lacking.join(", ")}` };
  const missing = missingPrograms(raw.needs ?? []);
  if (missing.length > 0) return { state: "skipped", why: `${missing.join(", ")} missing` };
  const place = makePlace(adapter.uid);
  try {
    const one = fill(raw, place, services);
    const runOnHost = (script: string) => onHost(script, place, adapter.uid);
    const setup = [one.fixture === undefined ? "" : REPOSITORY, joined(one.setup ?? "")].join("\n").trim();
    const made = setup === "" ? { status: 0, stdout: "", stderr: "" } : runOnHost(setup);
    if (made.status !== 0) return { state: "skipped", why: `the setup failed: ${made.stderr}` };
    const trees = new Map(
      (one.after ?? []).flatMap((after) =>
        "same_tree" in after ? [[after.same_tree, treeOf(after.same_tree)] as const] : [],
      ),
    );
    const faults = judge(one, await observe(one, adapter, place), { trees, services, runOnHost });
    return faults.length === 0 ? { state: "passed" } : { state: "failed", why: faults.join("; ") };
  } finally {
    endAll(place);
    removePlace(place);
  }
}

function onHost(script: string, place: Place, uid: number): { status: number; stdout: string; stderr: string } {
  const end = Bun.spawnSync([...asUser(uid), "sh", "-c", script], {
    cwd: place.work,
    env: environment(place),
    timeout: PATIENCE_MS,
  });
  return { status: end.exitCode, stdout: end.stdout.toString(), stderr: end.stderr.toString() };
}

function environment({ home }: Place): Record<string, string> {
  return { PATH: SYSTEM_PATH, HOME: home, LANG: "C.UTF-8" };
}

async function observe(one: GroupedCase, adapter: Adapter, place: Place): Promise<Observed> {
  const launch = adapter.launch(one, place, commandOf(one));
  writeFiles(launch, adapter.uid);
  const times = one.together ?? 1;
  const runs = await Promise.all(Array.from({ length: times }, (_, at) => start({ one, adapter, place, launch, at })));
  const worst = runs.find((run) => run.status !== 0) ?? runs[0];
  if (worst === undefined) throw new Error("a case runs at least once");
  const started = one.argv !== undefined || runs.every((run) => run.stderr.includes(STARTED));
  return {
    ...worst,
    stderr: worst.stderr.replace(STARTED, ""),
    started,
    events: one.events === undefined ? [] : adapter.events(place, worst.stderr),
  };
}

function commandOf(one: GroupedCase): string[] {
  if (one.argv !== undefined) return one.argv;
  if (one.sh !== undefined) return ["sh", "-c", `echo @started >&2\n${joined(one.sh)}`];
  const script = `import sys; sys.stderr.write("@started\\n"); sys.stderr.flush()\n${PRELUDE}${joined(one.python ?? "")}`;
  return ["python3", "-c", script];
}

function writeFiles({ files = {} }: Launch, uid: number): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    chownSync(path, uid, uid);
    giveTo(dirname(path), uid);
  }
}

type Start = { one: GroupedCase; adapter: Adapter; place: Place; launch: Launch; at: number };
type Run = Pick<Observed, "status" | "stdout" | "stderr" | "timedOut">;

/** Output goes to files: a pipe would stay open for as long as a process that a tool left behind. */
async function start({ one, adapter, place, launch, at }: Start): Promise<Run> {
  const streams = { stdout: join(place.top, `stdout-${at}`), stderr: join(place.top, `stderr-${at}`) };
  const [out, err] = [openSync(streams.stdout, "a"), openSync(streams.stderr, "a")];
  const child = Bun.spawn(withDescriptor(one, adapter.wrap(launch.argv)), {
    cwd: one.cwd ?? place.work,
    env: { ...environment(place), ...launch.env, ...one.env },
    stdin: Buffer.from(one.stdin ?? ""),
    stdout: out,
    stderr: err,
  });
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
  }, PATIENCE_MS);
  const { signal } = one;
  if (signal !== undefined && (await said(streams.stdout, "ready", child.exited))) child.kill(`SIG${signal}`);
  await child.exited;
  clearTimeout(timer);
  closeSync(out);
  closeSync(err);
  const status = child.exitCode ?? 128 + (signalNumbers[child.signalCode ?? ""] ?? 0);
  return {
    status,
    timedOut,
    stdout: readFileSync(streams.stdout, "utf8"),
    stderr: readFileSync(streams.stderr, "utf8"),
  };
}

const signalNumbers: Partial<Record<string, number>> = constants.signals;

/** The caller's shell leaves descriptor 9 open on a file. */
function withDescriptor({ descriptor }: GroupedCase, argv: string[]): string[] {
  return descriptor === undefined ? argv : ["sh", "-c", 'exec 9<"$0"; exec "$@"', descriptor, ...argv];
}

/** Waits until the output holds a line; false when the command ended first. */
async function said(path: string, line: string, exited: Promise<number>): Promise<boolean> {
  let over = false;
  void exited.then(() => {
    over = true;
  });
  while (!readFileSync(path, "utf8").includes(line)) {
    if (over) return false;
    await Bun.sleep(20);
  }
  return true;
}

/** Ends what is left of this case: its folder's name is in nothing else. */
function endAll({ top }: Place): void {
  for (const pid of processesAbout(top)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
}
