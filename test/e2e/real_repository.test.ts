// E4, E5, E10: what people do in a repository works inside `cordon run`, and three things that must not work say why.
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { missingPrograms, runCordon, runShell, type Surroundings } from "../support/run_cordon.ts";
import { giveTo, makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { makeRepository } from "../support/scratch_repository.ts";
import { type Cell, CELLS, findCell, sharedCordon } from "../support/tiers.ts";

const SECRET = "-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXktdjEA";
const BASHRC = "# the person's own\n";

/** A loopback server and its client in one process tree: what test suites of web programs do. */
const LOOPBACK = `
import { createServer, get } from "node:http";
const server = createServer((_, answer) => answer.end("hello from inside"));
server.listen(0, "127.0.0.1", () => {
  get({ host: "127.0.0.1", port: server.address().port }, (answer) => {
    answer.on("data", (text) => process.stdout.write(text));
    answer.on("end", () => server.close());
  });
});`;

const POOL =
  "from multiprocessing import Pool\nif __name__ == '__main__':\n    with Pool(2) as p: print(p.map(abs, [-1, -2]))";

/** One thing that works: the programs it needs, the script, and what it prints. */
type Work = { name: string; needs: string[]; script: string; prints: RegExp };

const WORKS: readonly Work[] = [
  { name: "git status", needs: ["git"], script: "git status --porcelain && echo clean", prints: /^clean\n$/ },
  {
    name: "git commit",
    needs: ["git"],
    script: "echo new > new.txt && git add new.txt && git commit -q -m 'Add new' && git log --format=%s",
    prints: /^Add new\nStart\n$/,
  },
  {
    name: "git stash",
    needs: ["git"],
    script:
      "echo more >> README.md && git stash -q && git status --porcelain && git stash pop -q && git checkout -q . && echo ok",
    prints: /^ok\n$/,
  },
  {
    name: "git branch",
    needs: ["git"],
    script: "git checkout -q -b topic && git checkout -q main && git branch -D topic -q && echo ok",
    prints: /^ok\n$/,
  },
  { name: "node -e", needs: ["node"], script: "node -e 'console.log(6 * 7)'", prints: /^42\n$/ },
  { name: "node --test", needs: ["node"], script: "node --test sum.test.mjs", prints: /pass 1/ },
  { name: "python3 -c", needs: ["python3"], script: "python3 -c 'print(6 * 7)'", prints: /^42\n$/ },
  {
    name: "python multiprocessing",
    needs: ["python3"],
    script: `cat > pool.py <<'END'\n${POOL}\nEND\npython3 pool.py && rm pool.py`,
    prints: /^\[1, 2\]\n$/,
  },
  { name: "make", needs: ["make"], script: "make -s && cat built", prints: /^\s*1\n$/ },
  { name: "cc", needs: ["cc"], script: "cc -O0 -o hello hello.c && ./hello", prints: /^compiled\n$/ },
  { name: "/dev/null", needs: [], script: "echo gone > /dev/null && cat /dev/null && echo ok", prints: /^ok\n$/ },
  { name: "mktemp", needs: ["mktemp"], script: 'f=$(mktemp) && echo text > "$f" && cat "$f"', prints: /^text\n$/ },
  { name: "pipes", needs: ["sort"], script: "printf 'b\\na\\n' | sort | head -n 1", prints: /^a\n$/ },
];

const table: string[] = [];
const shared = mkdtempSync(join(tmpdir(), "e2e-cordon-bin-"));
const binary = sharedCordon(shared);
afterAll(() => {
  rmSync(shared, { recursive: true, force: true });
  console.log(["", "user      namespaces  tier        works  refused", ...table].join("\n"));
});

for (const cell of CELLS) {
  const found = findCell(cell);
  const title = `as ${cell.user === "root" ? "root" : "an ordinary user"} ${cell.namespaces} user namespaces`;
  if (found.found && missingPrograms(["git"]).length === 0) describe(title, () => describeCell(cell, found));
  else {
    const why = found.found ? "git missing" : found.why;
    table.push(`${row(cell)}  skipped: ${why}`);
    test.skip(`${title}: ${why}`, () => {});
  }
}

type Place = { scratch: Scratch; around: Surroundings; tier: "namespaces" | "landlock" };

function describeCell(cell: Cell, { uid, wrap }: { uid: number; wrap: (argv: string[]) => string[] }): void {
  const scratch = makeScratch();
  makeRepository(scratch);
  mkdirSync(join(scratch.home, ".ssh"), { mode: 0o700 });
  writeFileSync(join(scratch.home, ".ssh/id_ed25519"), SECRET, { mode: 0o600 });
  writeFileSync(join(scratch.home, ".bashrc"), BASHRC);
  if (uid !== process.geteuid?.()) giveTo(scratch.top, uid);
  const place: Place = {
    scratch,
    around: { scratch, wrap, binary },
    tier: cell.namespaces === "with" ? "namespaces" : "landlock",
  };
  const count = { works: 0, refused: 0 };
  afterAll(() => {
    removeScratch(scratch);
    table.push(`${row(cell)}  ${place.tier.padEnd(10)}  ${String(count.works).padEnd(5)}  ${count.refused}`);
  });
  test("E4 doctor says which tier this is, and what is missing in it", () => doctorKnows(place));
  for (const work of WORKS) describeWork(work, place, count);
  describeLoopback(place, count);
  describeRefusals(place, count);
}

function row({ user, namespaces }: Cell): string {
  return `${user.padEnd(8)}  ${namespaces.padEnd(10)}`;
}

async function doctorKnows({ around, tier }: Place): Promise<void> {
  const end = await runCordon(["doctor", "--json"], around);
  expect(end.stderr).toBe("");
  const report = JSON.parse(end.stdout);
  expect(report.tier).toBe(tier);
  const states = Object.fromEntries(
    report.properties.map((p: { property: string; state: string }) => [p.property, p.state]),
  );
  expect(states["fs.write_confined"]).toBe("enforced");
  expect(states["net.blocked"]).toBe("enforced");
  expect(states["net.loopback"]).toBe("enforced");
}

function describeWork(work: Work, { around }: Place, count: { works: number }): void {
  const missing = missingPrograms(work.needs);
  const title = `E4 ${work.name} works`;
  if (missing.length > 0) return void test.skip(`${title} (${missing.join(", ")} missing)`, () => {});
  test(title, async () => {
    const end = await runShell(work.script, around);
    expect(end).toMatchObject({ code: 0, stderr: expect.not.stringContaining("cordon:") });
    expect(end.stdout).toMatch(work.prints);
    count.works++;
  });
}

function describeLoopback({ around }: Place, count: { works: number }): void {
  if (missingPrograms(["node"]).length > 0) return void test.skip("E4 a private loopback (node missing)", () => {});
  test("E4 a server and its client meet on the loopback", async () => {
    const argv = ["run", "--require", "net.loopback", "--", "node", "--input-type=module", "-e", LOOPBACK];
    expect(await runCordon(argv, around)).toMatchObject({ code: 0, stdout: "hello from inside" });
    count.works++;
  });
}

function describeRefusals({ scratch, around }: Place, count: { refused: number }): void {
  test("E10 a write to ~/.bashrc is refused with a line that names it, and the file is unchanged", async () => {
    const end = await runShell("echo x > ~/.bashrc", around);
    expect(end.code).not.toBe(0);
    expect(readFileSync(join(scratch.home, ".bashrc"), "utf8")).toBe(BASHRC);
    // No ^: a shell writes its own message in pieces, and the line may stand between two of them.
    expect(end.stderr).toMatch(/cordon: blocked write .*\/\.bashrc \(.*\); allow with --allow-write=.*\.bashrc$/m);
    count.refused++;
  });
  test("E10 cat ~/.ssh/id_ed25519 shows nothing, with a line that says what is hidden", async () => {
    const end = await runShell("cat ~/.ssh/id_ed25519", around);
    expect(end.code).not.toBe(0);
    expect(end.stdout + end.stderr).not.toContain(SECRET.slice(0, 20));
    expect(end.stderr).toMatch(/^cordon: .*id_ed25519|^cordon: .*\.ssh/m);
    count.refused++;
  });
  const curl = missingPrograms(["curl"]).length === 0;
  test.skipIf(!curl)(
    "E10 curl to a listener on the host's loopback never reaches it, with a line that says so",
    async () => {
      let connections = 0;
      const count1 = () => void connections++;
      const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { open: count1, data: () => {} } });
      try {
        const end = await runShell(`curl -s --max-time 10 http://127.0.0.1:${server.port}/`, around);
        expect(end.code).not.toBe(0);
        expect(connections).toBe(0);
        const line = `^cordon: blocked connect 127\\.0\\.0\\.1:${server.port} \\(.*\\); allow with --allow-net$`;
        expect(end.stderr).toMatch(new RegExp(line, "m"));
        count.refused++;
      } finally {
        server.stop(true);
      }
    },
  );
}
