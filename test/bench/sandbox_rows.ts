/** What the sandbox costs: starting it, opening files in it, building in it, and what other sandboxes take for the same. */
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { peersFolder } from "../conformance/peers.ts";
import type { Timed } from "./alternate.ts";
import type { Row } from "./rows.ts";

/** Debian's nobody, who owns nothing: the ordinary user where root measures. */
const ORDINARY_ID = 65_534;

const OPENS = 6000;
const SOURCES = 24;
const AT_ONCE = 20;

/** What the rows are made of: the executable, a folder for their files, and bubblewrap with the isolation of a given cordon. */
export type SandboxBench = { cordon: string; folder: string; bwrap: (cordon: Timed) => Timed };

/** The rows of DESIGN section 7 that belong to the sandbox. */
export function sandboxRows({ cordon, folder, bwrap }: SandboxBench): Row[] {
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true });
  const run = (...command: string[]): [string, ...string[]] => [cordon, "run", "--", ...command];
  const runTrue: Timed = { name: "cordon run -- true", argv: run("true"), cwd: workspace };
  const peer = bwrap({ name: "cordon", argv: [cordon], cwd: workspace });
  const what = "sandboxed command";
  return [
    { what, subject: runTrue, peer, rounds: 60, target: 1.5 },
    ...asOrdinaryUser({ cordon, folder, bwrap }),
    {
      what,
      subject: runTrue,
      peer: { name: "srt true", argv: [fromNpm("srt"), "true"], cwd: workspace },
      rounds: 10,
      target: 1 / 30,
    },
    { what, subject: runTrue, peer: landstrip(folder, workspace), rounds: 20, target: 1.5 },
    { what, subject: runTrue, peer: codex(workspace), rounds: 10, target: 0.5 },
    { what, subject: runTrue, peer: { name: "true", argv: ["true"], cwd: workspace }, rounds: 40, target: 40 },
    atOnce(runTrue, peer),
    serving(cordon, workspace),
    ...opening(cordon, folder),
    building(cordon, folder),
  ];
}

/** Where root measures, the same as a user without rights; setpriv costs both sides the same. */
function asOrdinaryUser({ cordon, bwrap }: SandboxBench): Row[] {
  if (process.geteuid?.() !== 0) return [];
  // Where every user gets in, which the cache folder of root is not.
  const place = join("/var/tmp", "cordon-bench-ordinary");
  rmSync(place, { recursive: true, force: true });
  for (const name of ["", "home", "workspace", "state"]) {
    mkdirSync(join(place, name), { recursive: true });
    chownSync(join(place, name), ORDINARY_ID, ORDINARY_ID);
    chmodSync(join(place, name), 0o755);
  }
  // The clone may lie in a home that others can't enter.
  const copy = join(place, "cordon");
  copyFileSync(cordon, copy);
  chmodSync(copy, 0o755);
  const workspace = join(place, "workspace");
  const env = { PATH: "/usr/bin:/bin", HOME: join(place, "home"), CORDON_STATE_DIR: join(place, "state") };
  const drop = ["setpriv", `--reuid=${ORDINARY_ID}`, `--regid=${ORDINARY_ID}`, "--clear-groups"] as const;
  const as = ({ name, argv }: Timed): Timed => ({ name, argv: [...drop, ...argv], cwd: workspace, env });
  const subject = as({ name: "cordon run -- true", argv: [copy, "run", "--", "true"] });
  const peer = as(bwrap({ name: "cordon", argv: [...drop, copy], cwd: workspace, env }));
  return [{ what: "the same, ordinary user", subject, peer, rounds: 40, target: 1.5 }];
}

function landstrip(folder: string, workspace: string): Timed {
  const policy = join(folder, "landstrip.json");
  writeFileSync(policy, JSON.stringify({ filesystem: { allowWrite: [workspace] } }));
  return { name: "landstrip true", argv: [fromNpm("landstrip"), "run", "-p", policy, "--", "true"], cwd: workspace };
}

function codex(workspace: string): Timed {
  return { name: "codex sandbox true", argv: [fromNpm("codex"), "sandbox", "--", "true"], cwd: workspace };
}

/** Where `npm run conformance -- --install` puts the peers from npm; else the one of PATH. */
function fromNpm(name: string): string {
  const path = join(peersFolder(), "node_modules", ".bin", name);
  return existsSync(path) ? path : name;
}

/** A bash call in a `serve` that lasts, and a bare spawn of bash, each with a clock of its own. */
function serving(cordon: string, workspace: string): Row {
  const script = join(import.meta.dir, "bash_in_serve.ts");
  const own = { cwd: workspace, clock: "printed" } as const;
  const subject: Timed = { name: "bash call in serve", argv: [process.execPath, script, "serve", cordon], ...own };
  const peer: Timed = { name: "bare spawn of bash", argv: [process.execPath, script, "spawn"], ...own };
  return { what: "bash call", subject, peer, rounds: 8, target: 3, adds: true };
}

function atOnce(ours: Timed, peer: Timed): Row {
  const many = ({ name, argv, cwd }: Timed): Timed => {
    const words = argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const script = `n=0; while [ $n -lt ${AT_ONCE} ]; do ${words} & p="$p $!"; n=$((n+1)); done; for i in $p; do wait $i || exit 1; done`;
    return { name: `${AT_ONCE} × ${name}`, argv: ["sh", "-c", script], ...(cwd ? { cwd } : {}) };
  };
  return { what: "many in one folder", subject: many(ours), peer: many(peer), rounds: 10, target: 1.5 };
}

/** The time of the work alone, taken inside: starting the sandbox is another row. */
function opening(cordon: string, folder: string): Row[] {
  const place = join(folder, "opens");
  mkdirSync(place, { recursive: true });
  for (let n = 0; n < OPENS; n++) writeFileSync(join(place, `file-${n}`), "text\n");
  const script = `import os, time
names = [f"file-{n}" for n in range(${OPENS})]
best = float("inf")
for turn in range(6):
    begin = time.perf_counter()
    for name in names:
        fd = os.open(name, os.O_RDONLY); os.read(fd, 100); os.close(fd)
    # The others on this machine are none of the sandbox's business.
    best = min(best, time.perf_counter() - begin)
print(best * 1000)`;
  const program = ["python3", "-c", script] as const;
  const own = { cwd: place, clock: "printed" } as const;
  const peer: Timed = { name: "outside", argv: [...program], ...own };
  const what = `${OPENS} opens for reading`;
  const inside = (...flags: string[]): Timed["argv"] => [cordon, "run", ...flags, "--", ...program];
  return [
    { what, subject: { name: "inside", argv: inside(), ...own }, peer, rounds: 30, target: 1.03 },
    {
      what,
      subject: { name: "inside, --report=reads", argv: inside("--report=reads"), ...own },
      peer,
      rounds: 10,
      target: 20,
    },
  ];
}

/** A small C project, built whole with two jobs. */
function building(cordon: string, folder: string): Row {
  const place = join(folder, "project");
  mkdirSync(place, { recursive: true });
  const names = Array.from({ length: SOURCES }, (_, n) => `part${n}`);
  for (const name of names) {
    const lines = Array.from(
      { length: 200 },
      (_, n) => `int ${name}_${n}(int x) { return printf("%d\\n", x * ${n}); }`,
    );
    writeFileSync(
      join(place, `${name}.c`),
      `#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n${lines.join("\n")}\n`,
    );
  }
  writeFileSync(join(place, "main.c"), "int main(void) { return 0; }\n");
  const objects = ["main", ...names].map((name) => `${name}.o`).join(" ");
  writeFileSync(join(place, "Makefile"), `all: ${objects}\n\tcc -o program ${objects}\nclean:\n\trm -f *.o program\n`);
  const script = "make -s clean; a=$(date +%s%N); make -s -j2 all; b=$(date +%s%N); echo $(((b - a) / 1000))e-3";
  const own = { cwd: place, clock: "printed" } as const;
  const program = ["sh", "-c", script] as const;
  const subject: Timed = { name: "inside", argv: [cordon, "run", "--", ...program], ...own };
  return { what: "make -j2", subject, peer: { name: "outside", argv: [...program], ...own }, rounds: 10, target: 1.03 };
}
