import { afterEach, beforeEach, expect, test } from "bun:test";
import { cordonPath, scratchEnvironment } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { waitFor } from "../support/wait_for.ts";

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => removeScratch(scratch));

/** Far above what serve needs (80 to 130 MB measured), far below the 700 MB of a serve that keeps all of the output. */
const MOST_RESIDENT_KB = 350_000;

test("B7: a client that reads no more costs bounded memory, and can't keep serve from ending at SIGTERM", async () => {
  // `sleep` holds the reading end of stdout open and reads nothing.
  const child = Bun.spawn(["sh", "-c", '{ exec "$0" serve --allow Bash 2>&1; } | sleep 50', cordonPath()], {
    cwd: scratch.work,
    env: scratchEnvironment(scratch),
    stdin: "pipe",
    detached: true,
  });
  try {
    const command = "head -c 600000000 /dev/zero | tr '\\0' x; touch finished";
    child.stdin.write(`${JSON.stringify({ id: "1", tool: "bash", input: { command }, stream: true })}\n`);
    child.stdin.flush();
    const pid = await serveBelow(child.pid);
    await waitFor("the command's end", () => Bun.file(`${scratch.work}/finished`).exists());
    const [, resident = "0"] = /^VmRSS:\s+(\d+) kB/m.exec(await Bun.file(`/proc/${pid}/status`).text()) ?? [];
    expect(Number(resident)).toBeLessThan(MOST_RESIDENT_KB);
    process.kill(pid, "SIGTERM");
    await waitFor("the end of serve", async () => !(await Bun.file(`/proc/${pid}/cmdline`).exists()));
  } finally {
    process.kill(-child.pid, "SIGKILL");
    await child.exited;
  }
}, 50_000);

/** The process id of the `serve` that the shell `parent` started. */
function serveBelow(parent: number): Promise<number> {
  return waitFor("serve", async () => {
    const list = await Bun.file(`/proc/${parent}/task/${parent}/children`).text();
    for (const pid of list.split(" ").filter((word) => word !== ""))
      if ((await Bun.file(`/proc/${pid}/cmdline`).text()).includes("\0serve\0")) return Number(pid);
    return null;
  });
}
