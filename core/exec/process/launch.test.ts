import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { processesWith, shellPlan, startShell, type TestedTier } from "../../testing/sandboxed_command.ts";
import { smallCore } from "../../testing/small_core.ts";
import { tempFolder } from "../../testing/temp_folder.ts";
import { launch, type RunningCommand } from "./launch.ts";

const workspace = () => tempFolder({ "app/": "" });
/** A command line argument that no other process has: how many seconds to sleep. */
const newMarker = () => `3${Math.floor(Math.random() * 1e9)}`;

async function ended(running: RunningCommand) {
  const end = await running.ended;
  if (end.kind === "refused") throw new Error(`${end.report.op}: ${end.report.why}`);
  return end;
}

/** Resolves when the command has printed "ready". */
function whenReady() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let text = "";
  return {
    ready: promise,
    onOutput: (chunk: { text: string }) => {
      text += chunk.text;
      if (text.includes("ready")) resolve();
    },
  };
}

for (const tier of ["namespaces", "landlock"] satisfies TestedTier[]) {
  describe.skipIf(process.platform !== "linux")(`with ${tier}`, () => {
    test("F3 a command's exit code, output and what was enforced come back", async () => {
      using folder = workspace();
      const end = await ended(await startShell(folder, "echo out; echo err >&2; exit 7", { tier }));
      expect(end).toMatchObject({
        code: 7,
        signal: null,
        timedOut: false,
        cancelled: false,
        stdout: { text: "out\n" },
        stderr: { text: "err\n" },
      });
      expect(end.enforced.tier).toBe(tier);
      expect(end.enforced.properties).toMatchObject({
        "fs.write_confined": "enforced",
        "net.blocked": "enforced",
        "syscalls.filtered": "enforced",
      });
    });

    test("F3 a command that a signal ended is told from one that exited", async () => {
      using folder = workspace();
      expect(await ended(await startShell(folder, "kill -KILL $$", { tier }))).toMatchObject({
        code: null,
        signal: "SIGKILL",
      });
    });

    test("A24 the time limit ends the whole tree", async () => {
      using folder = workspace();
      const marker = newMarker();
      const end = await ended(
        await startShell(folder, `trap '' TERM; sleep ${marker} & echo begun; wait; wait`, { tier, timeoutMs: 300 }),
      );
      expect(end).toMatchObject({ timedOut: true, cancelled: false, stdout: { text: "begun\n" } });
      expect(await processesWith(marker, 0)).toBe(0);
    });

    test("A24 a cancelled call ends the whole tree, one in a session of its own too", async () => {
      using folder = workspace();
      const marker = newMarker();
      const stop = new AbortController();
      const { ready, onOutput } = whenReady();
      const running = await startShell(folder, `setsid sleep ${marker} & echo ready; wait`, {
        tier,
        signal: stop.signal,
        onOutput,
      });
      await ready;
      expect(await processesWith(marker, 1)).toBeGreaterThan(0);
      stop.abort();
      expect(await ended(running)).toMatchObject({ cancelled: true, timedOut: false });
      expect(await processesWith(marker, 0)).toBe(0);
    });

    test("A24 a call that was cancelled before it started ends at once", async () => {
      using folder = workspace();
      expect(await ended(await startShell(folder, "sleep 300", { tier, signal: AbortSignal.abort() }))).toMatchObject({
        cancelled: true,
      });
    });

    test("F3 a signal that is handed on reaches the command, which may answer it", async () => {
      using folder = workspace();
      const { ready, onOutput } = whenReady();
      const running = await startShell(
        folder,
        "trap 'echo heard; exit 9' INT; echo ready; while :; do sleep 0.1; done",
        { tier, onOutput },
      );
      await ready;
      running.forward("SIGINT");
      expect(await ended(running)).toMatchObject({ code: 9, signal: null, stdout: { text: "ready\nheard\n" } });
    });

    test("F3 what a command leaves running ends with it", async () => {
      using folder = workspace();
      const marker = newMarker();
      expect(
        await ended(await startShell(folder, `setsid sleep ${marker} >/dev/null 2>&1 & exit 0`, { tier })),
      ).toMatchObject({ code: 0 });
      expect(await processesWith(marker, 0)).toBe(0);
    });

    test("F3 a program that is not there is 127, one that can't be run is 126", async () => {
      using folder = tempFolder({ "app/data": "x" });
      expect((await ended(await startShell(folder, "exec no-such-program", { tier }))).code).toBe(127);
      expect((await ended(await startShell(folder, "exec ./data", { tier }))).code).toBe(126);
    });

    test("A25 a write outside is refused and seen, one inside is neither", async () => {
      using folder = tempFolder({ "app/": "", "outside/": "" });
      const seen: string[] = [];
      const script = `echo x > inside.txt && echo x > ${folder.at("outside/x")}`;
      const end = await ended(
        await startShell(folder, script, { tier, onDenial: ({ path }) => seen.push(path ?? "") }),
      );
      expect(end.code).not.toBe(0);
      expect([readdirSync(folder.at("app")), readdirSync(folder.at("outside"))]).toEqual([["inside.txt"], []]);
      expect(seen).toContain(folder.at("outside/x"));
    });
  });
}

test("B18 long output is cut and counted while it comes", async () => {
  using folder = workspace();
  const end = await ended(await startShell(folder, "head -c 1000000 /dev/zero | tr '\\0' x"));
  expect(end.stdout.droppedBytes).toBe(1_000_000 - 198_000);
});

test("F3 a step that can't be carried out refuses, and nothing has run", async () => {
  using folder = workspace();
  const { planner, hosts } = smallCore({ folder, tools: [] });
  const plan = shellPlan(folder, "touch ran", await planner.machine());
  const view = plan.ops.find((op) => op.op === "view");
  if (view?.op !== "view") return;
  view.mounts.push({ path: folder.at("gone"), access: "ro" });
  const end = await launch({
    plan,
    launcher: hosts.local.launcher(),
    stdio: "collect",
    timeoutMs: 30_000,
    signal: new AbortController().signal,
  }).ended;
  expect(end).toMatchObject({ kind: "refused", report: { op: "view" } });
  expect(readdirSync(folder.at("app"))).toEqual([]);
});

test("F3 a plan of a megabyte goes through, and fifty commands leave no descriptor behind", async () => {
  using folder = workspace();
  const { planner, hosts } = smallCore({ folder, tools: [] });
  const launcher = hosts.local.launcher();
  const facts = await planner.machine();
  const big = shellPlan(folder, 'echo "$#"', facts);
  big.command.argv.push("sh", ...Array.from({ length: 9000 }, () => "x".repeat(100)));
  expect(
    await ended(
      launch({ plan: big, launcher, stdio: "collect", timeoutMs: 30_000, signal: new AbortController().signal }),
    ),
  ).toMatchObject({ stdout: { text: "9000\n" } });
  const plan = shellPlan(folder, "true", facts);
  const run = () =>
    ended(launch({ plan, launcher, stdio: "collect", timeoutMs: 30_000, signal: new AbortController().signal }));
  await run();
  Bun.gc(true);
  const before = readdirSync("/proc/self/fd").length;
  for (let n = 0; n < 50; n++) expect((await run()).code).toBe(0);
  Bun.gc(true);
  expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
});

test("A18 a command that says more than it may is ended, keeps what fits, and the limit is named once", async () => {
  using folder = workspace();
  const { planner, hosts } = smallCore({ folder, tools: [] });
  const told: unknown[] = [];
  const run = async (script: string) =>
    ended(
      launch({
        plan: shellPlan(folder, script, await planner.machine()),
        launcher: hosts.local.launcher(),
        stdio: "collect",
        outputBytes: 1000,
        timeoutMs: 30_000,
        signal: new AbortController().signal,
        onDenial: (denial) => told.push(denial),
      }),
    );
  expect(await run("printf 12345; exit 3")).toMatchObject({ code: 3, stdout: { text: "12345" } });
  expect(told).toEqual([]);
  const end = await run("printf err >&2; exec yes");
  expect(end).toMatchObject({ signal: "SIGTERM", limit: "output", timedOut: false, stderr: { text: "err" } });
  expect(end.stdout.text.length).toBe(997);
  expect(told).toMatchObject([{ op: "limit", grant: "--output" }]);
});

test("A24 when cordon itself is killed the command's whole tree ends", async () => {
  using folder = workspace();
  const marker = newMarker();
  const program = `
    import { startShell } from ${JSON.stringify(join(import.meta.dir, "../../testing/sandboxed_command.ts"))};
    const folder = { root: ${JSON.stringify(folder.root)}, at: (...names) => [${JSON.stringify(folder.root)}, ...names].join("/") };
    await startShell(folder, "setsid sleep ${marker} & sleep ${marker}", { timeoutMs: null });
    setInterval(() => {}, 1000);`;
  const host = Bun.spawn([process.execPath, "-e", program], { stderr: "inherit", timeout: 30_000 });
  expect(await processesWith(marker, 2)).toBe(2);
  host.kill("SIGKILL");
  await host.exited;
  expect(await processesWith(marker, 0)).toBe(0);
});
