// Somebody swaps a folder on the way for a link that leads outside, again and again, while tools work in it.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { Judge } from "../../authorize/authorize.ts";
import { dispatch } from "../../dispatch/dispatch.ts";
import { decisionOf, requestOf, smallCore } from "../../testing/small_core.ts";
import { type TempFolder, tempFolder } from "../../testing/temp_folder.ts";
import { builtinTools } from "../../tools/builtin.ts";

let folder: TempFolder;
let racer: ReturnType<typeof Bun.spawn>;

/** Swaps app/d with a link to ../outside as fast as it can, half of the time each. */
const RACE = `
  import { renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
  process.chdir(process.argv[1]);
  console.log("racing");
  // A write that meets no folder makes one, which then stands in the way.
  function put(step) {
    for (;;)
      try {
        return step();
      } catch {
        try {
          rmSync("app/d", { recursive: true, force: true });
        } catch {}
      }
  }
  for (let at = 0; ; at++) {
    renameSync("app/d", "app/kept");
    put(() => symlinkSync("../outside", "app/d"));
    for (let spin = at % 3000; spin > 0; spin--);
    unlinkSync("app/d");
    put(() => renameSync("app/kept", "app/d"));
    for (let spin = at % 4500; spin > 0; spin--);
    // Long enough for a whole call, now and then.
    if (at % 20 === 0) Bun.sleepSync(25);
  }`;

beforeAll(async () => {
  folder = tempFolder({
    "app/d/file.txt": "INSIDE\n",
    "app/d/sub/deep.txt": "INSIDE\n",
    "outside/file.txt": "OUTSIDE\n",
    "outside/sub/deep.txt": "OUTSIDE\n",
    "outside/only-outside.txt": "OUTSIDE\n",
    "outside/edited.txt": "a",
    "app/d/edited.txt": "a",
  });
  const child = Bun.spawn([process.execPath, "-e", RACE, folder.root], { stdout: "pipe", stderr: "ignore" });
  await child.stdout.getReader().read();
  racer = child;
});
afterAll(async () => {
  racer.kill("SIGKILL");
  await racer.exited;
  folder[Symbol.dispose]();
});

/** What a rule would say: nothing outside. The link may stand there at the moment of the decision, or come after it. */
const insideOnly: Judge = async ({ effects }) => {
  const leaves = effects.some((effect) => "path" in effect && effect.path.startsWith(folder.at("outside")));
  return decisionOf(leaves ? "deny" : "allow");
};

/** A refusal says that the rules forbid it, that the path changed, or that for a moment there was none. */
const FAIR = ["policy.denied", "fs.moved", "fs.not_found", "fs.not_a_directory", "sandbox.outside", "fs.not_a_file"];

/** Enough calls of each tool for 10,000 in all; a slow machine may end earlier. */
const CALLS: Record<string, { input: (at: number) => object; times: number }> = {
  read_file: { input: () => ({ path: "d/file.txt" }), times: 5000 },
  write_file: { input: (at) => ({ path: `d/made/${at % 50}.txt`, content: "WRITTEN" }), times: 3000 },
  edit_file: {
    input: (at) => ({ path: "d/edited.txt", old_string: at % 3 ? "a" : "b", new_string: at % 3 ? "b" : "a" }),
    times: 1500,
  },
  grep_search: { input: () => ({ pattern: "SIDE", path: "d", output_mode: "content" }), times: 400 },
  glob_search: { input: () => ({ pattern: "**/*.txt", path: "d" }), times: 100 },
};

for (const [tool, { input, times }] of Object.entries(CALLS)) {
  test(`I7 ${tool} touches nothing outside in ${times} tries against a racing swap, and works inside`, async () => {
    const core = smallCore({ folder, tools: [...builtinTools()], authority: { judge: insideOnly } });
    const until = performance.now() + 20_000;
    let worked = 0;
    // Until one call at least has met a moment in which the folder stood where it belongs.
    for (let at = 0; (at < times || worked === 0) && performance.now() < until; at++) {
      const result = await dispatch(requestOf(tool, input(at)), core);
      if (!result.ok) expect([...FAIR, "edit.not_unique", "edit.not_found"]).toContain(result.error.code);
      else {
        worked++;
        expect(JSON.stringify(result.output)).not.toMatch(/OUTSIDE|only-outside/);
      }
    }
    expect(worked).toBeGreaterThan(0);
    expect(readFileSync(folder.at("outside/file.txt"), "utf8")).toBe("OUTSIDE\n");
    expect(readdirSync(folder.at("outside")).sort()).toEqual(["edited.txt", "file.txt", "only-outside.txt", "sub"]);
    expect(readFileSync(folder.at("outside/edited.txt"), "utf8")).toBe("a");
  }, 60_000);
}
