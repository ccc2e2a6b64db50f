// What no search should trip over: things in a tree that are no files, files that may not be read, and files that change while they are read.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { missingPrograms, runCordon } from "../support/run_cordon.ts";
import { giveTo, makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

const MIB = 1 << 20;

/** A user of the machine who owns nothing of the tests but what they give. */
const SOMEBODY = 54_321;

const canBecome = process.getuid?.() === 0 && missingPrograms(["setpriv", "mkfifo", "mknod"]).length === 0;
if (!canBecome) console.info("Skipped: searches as an ordinary user, because only root can become one, by setpriv");

let scratch: Scratch;
beforeAll(() => {
  scratch = makeScratch();
});
afterAll(() => removeScratch(scratch));

/** A tree of its own below the workspace. */
function folder({ work }: Scratch, name: string, files: Record<string, string>): string {
  const root = join(work, name);
  for (const [path, text] of Object.entries({ "": "", ...files })) {
    mkdirSync(join(root, path, path === "" ? "" : ".."), { recursive: true });
    if (path !== "") writeFileSync(join(root, path), text);
  }
  return root;
}

const asSomebody = (argv: string[]) => [
  "setpriv",
  `--reuid=${SOMEBODY}`,
  `--regid=${SOMEBODY}`,
  "--clear-groups",
  ...argv,
];

describe("A5 files that may not be read", () => {
  test.skipIf(!canBecome)(
    "are named and counted with their folders, the rest is searched, and it ends with 2",
    async () => {
      // Its own: what belongs to one user is no place for the next one's state.
      const scratch = makeScratch();
      using _ = { [Symbol.dispose]: () => removeScratch(scratch) };
      const root = folder(scratch, "closed", { "open/a": "needle\n", "shut/b": "needle\n", "open/c": "needle\n" });
      giveTo(scratch.top, SOMEBODY);
      chmodSync(scratch.top, 0o755);
      chmodSync(join(root, "shut"), 0o000);
      chmodSync(join(root, "open/c"), 0o000);
      const around = { scratch, cwd: root, wrap: asSomebody };
      const found = await runCordon(["grep", "-l", "needle"], around);
      expect(found).toMatchObject({ code: 2, stdout: "open/a\n" });
      expect(found.stderr.split("\n").sort()).toEqual([
        "",
        "cordon: open/c: can't be read",
        "cordon: shut: can't be read",
      ]);
      const called = await runCordon(["call", "grep_search", '{"pattern":"needle"}'], around);
      expect(JSON.parse(called.stdout)).toMatchObject({ ok: true, output: { skipped: { unreadable: 2 } } });
      chmodSync(join(root, "shut"), 0o755);
      chmodSync(join(root, "open/c"), 0o644);
      const opened = await runCordon(["grep", "-l", "needle"], around);
      expect(opened).toMatchObject({ code: 0, stdout: "open/a\nopen/c\nshut/b\n", stderr: "" });
    },
  );
});

describe("A5 what is no file", () => {
  test.skipIf(!canBecome)("is passed by: FIFOs, sockets, devices, links that lead round", async () => {
    const root = folder(scratch, "things", { "a.txt": "needle\n", "deep/b.txt": "needle\n" });
    for (const argv of [
      ["mkfifo", "pipe"],
      ["mknod", "zero", "c", "1", "5"],
      ["mknod", "disk", "b", "7", "0"],
    ]) {
      // Where devices can't be made, there are none to trip over.
      Bun.spawnSync(argv, { cwd: root, stdout: "ignore", stderr: "ignore" });
    }
    symlinkSync("..", join(root, "deep/up"));
    symlinkSync(".", join(root, "round"));
    symlinkSync("itself", join(root, "itself"));
    symlinkSync("/dev/zero", join(root, "endless"));
    const socket = await listening(join(root, "socket"));
    try {
      const found = await runCordon(["grep", "-uu", "-l", "needle"], { scratch, cwd: root });
      expect(found).toMatchObject({ code: 0, stdout: "a.txt\ndeep/b.txt\n", stderr: "" });
      const listed = await runCordon(["glob", "**"], { scratch, cwd: root });
      expect(listed.stdout.trim().split("\n").sort()).toEqual(["a.txt", "deep/b.txt"]);
      for (const name of ["pipe", "socket", "itself"]) {
        expect((await runCordon(["grep", "needle", name], { scratch, cwd: root })).code).toBe(2);
      }
    } finally {
      socket.close();
    }
  });
});

function listening(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(path, () => resolve(server));
  });
}

describe("A5 a file that changes while it is read", () => {
  /** Each makes something else of a file, and another one puts it back. */
  const CHANGES: Record<string, (path: string) => void> = {
    "is cut short": (path) => truncateSync(path, 10),
    grows: (path) => writeFileSync(path, "grown hay\n".repeat(MIB / 4), { flag: "a" }),
    "is removed": (path) => rmSync(path, { force: true }),
    "becomes a link": (path) => {
      rmSync(path, { force: true });
      symlinkSync("/etc/passwd", path);
    },
    "becomes a FIFO": (path) => {
      rmSync(path, { force: true });
      Bun.spawnSync(["mkfifo", path]);
    },
    "becomes another file": (path) => {
      writeFileSync(`${path}.new`, "other\n".repeat(100));
      renameSync(`${path}.new`, path);
    },
  };

  for (const [name, change] of Object.entries(CHANGES)) {
    test(`and ${name}: the search ends, and the files beside it are found`, async () => {
      const root = folder(scratch, `changing-${name.replaceAll(" ", "-")}`, {
        "a.txt": "needle\n",
        "z.txt": "needle\n",
      });
      const path = join(root, "m.txt");
      for (let round = 0; round < 4; round += 1) {
        rmSync(path, { recursive: true, force: true });
        writeFileSync(path, "a line of hay\n".repeat(3 * MIB));
        const running = runCordon(["grep", "-c", "needle|zz"], { scratch, cwd: root });
        // The places of the change in the search are those of chance; each of them must do.
        await Bun.sleep(60 + round * 40);
        change(path);
        const { code, stdout, stderr } = await running;
        expect(stdout).toBe("a.txt:1\nz.txt:1\n");
        expect(["0 ", "2 cordon: m.txt: can't be read\n"]).toContain(`${code} ${stderr}`);
      }
    }, 60_000);
  }
});
