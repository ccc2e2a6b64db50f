/** Searches, each in a new process, against ripgrep 15 and fd 10 on the same trees with the same flags. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "../../cli/build/cache.ts";
import { FD, RIPGREP, type SearchTool } from "../../cli/build/search_tools.ts";
import type { Timed } from "./alternate.ts";
import { makeTree, NEEDLE } from "./make_tree.ts";
import type { Figure } from "./print_table.ts";
import type { Row } from "./rows.ts";
import { type ServedTree, serveFigures } from "./serve_searches.ts";
import { warmFigures } from "./warm_searches.ts";

/** Debian's package of the large tree: 78,579 files, 1.2 GB. */
const LARGE = "linux-source-6.1";

/** Fetching 137 MB and unpacking them; whoever has no such line measures the other trees. */
const FETCH_MS = 5 * 60_000;
const UNPACK_MS = 10 * 60_000;

/** Trees by their number of files, how the cost grows; the large one comes on top of them. */
const SIZES = [200, 1000, 10_000];

const FILES_A_FOLDER = 20;

/** What a search may hold at its peak, in megabytes: most of it is Bun's heap and one buffer for each thread. */
const PEAK_MB = 150;

/** A search by its name in the table, its flags and its pattern; nothing is found by the last of each list. */
const LARGE_SEARCHES: readonly (readonly [what: string, ...words: string[]])[] = [
  ["literal", "-l", "EXPORT_SYMBOL_GPL"],
  ["regex with a literal", "-l", "\\w+_init_module\\("],
  ["literal, any case", "-l", "-i", "copyright notice"],
  ["\\w+ heavy", "-l", "^\\w+\\s+\\w+\\s+\\w+_probe\\s*\\("],
  ["matches nothing", "-l", "no_such_word_in_any_kernel"],
];

/** The rows of DESIGN section 7 that are about searching. Trees are made below `folder`; a tree that can't be had is named on stderr. */
export function searchRows(cordon: string, folder: string, words: readonly string[]): Row[] {
  const middle = makeTree(folder);
  const search = (what: string, cwd: string, words: readonly string[], target: number): Row => ({
    what,
    subject: quietly({ name: "cordon grep", argv: [cordon, "grep", ...words], cwd }),
    peer: quietly({ name: "rg", argv: [tool(RIPGREP, "rg"), "--no-config", ...words], cwd }),
    rounds: 15,
    target,
  });
  const names = (what: string, cwd: string, pattern: string): Row[] => [
    {
      what,
      subject: quietly({ name: "cordon glob", argv: [cordon, "glob", pattern], cwd }),
      peer: quietly({ name: "rg --files", argv: [tool(RIPGREP, "rg"), "--no-config", "--files", "-g", pattern], cwd }),
      rounds: 15,
      target: 1,
    },
    {
      what,
      subject: quietly({ name: "cordon glob", argv: [cordon, "glob", pattern], cwd }),
      peer: quietly({ name: "fd", argv: [tool(FD, "fd"), "--glob", pattern], cwd }),
      rounds: 15,
      target: 1,
    },
  ];
  const large = largeTree(folder, words);
  if ("missing" in large) process.stderr.write(`  not measured: searches of ${LARGE}: ${large.missing}\n`);
  return [
    ...SIZES.map((files) =>
      search(`search, ${files} files`, makeSizedTree(folder, files), ["-l", NEEDLE], files < 1000 ? 1.3 : 1),
    ),
    search("search, 4,000 files", middle, ["-l", NEEDLE], 1),
    ...names("names, 4,000 files", middle, "*.md"),
    ...("missing" in large
      ? []
      : LARGE_SEARCHES.map(([what, ...words]) => search(`large: ${what}`, large.path, words, 1))),
    ...("missing" in large ? [] : names("large: names", large.path, "*.h")),
  ];
}

/** The most memory that a search holds, for each size of tree. */
export function searchMemory(cordon: string, folder: string): Figure[] {
  const large = join(folder, LARGE);
  const trees = SIZES.map((files) => ({ what: `${files} files`, path: makeSizedTree(folder, files) }));
  if (existsSync(large)) trees.push({ what: LARGE, path: large });
  return trees.map(({ what, path }) => {
    const end = Bun.spawnSync([cordon, "grep", "-l", NEEDLE], { cwd: path, stdout: "ignore", stderr: "ignore" });
    // getrusage(2) counts kilobytes, Bun hands on bytes.
    const value = Math.round(end.resourceUsage.maxRSS / (1 << 20));
    return { what: `peak memory of cordon grep, ${what}`, value, unit: "MB", target: PEAK_MB };
  });
}

/** What searches of the large tree take in a process that lasts, if the tree is here. */
export async function warmSearches(cordon: string, folder: string): Promise<Figure[]> {
  const tree = join(folder, LARGE);
  return existsSync(tree) ? await warmFigures(cordon, tool(RIPGREP, "rg"), tree) : [];
}

/** Searches of a server that remembers nothing of trees: what holds before an index is there, and where there is none. */
export async function searchesInServe(cordon: string, folder: string): Promise<Figure[]> {
  const middle = makeTree(folder);
  const large = join(folder, LARGE);
  const sized = SIZES.map((files): ServedTree => {
    const path = makeSizedTree(folder, files);
    return { what: `${files} files`, path, text: NEEDLE, target: files < 1000 ? 1.3 : 1 };
  });
  const trees: ServedTree[] = [
    ...sized,
    { what: "4,000 files", path: middle, text: NEEDLE, target: 1 },
    { what: "4,000 files under a rule", path: middle, text: NEEDLE, target: 1, flags: ["--deny", "Read(secrets/**)"] },
    { what: "names, 4,000 files", path: middle, names: "*.md", target: 1 },
  ];
  if (existsSync(large)) {
    trees.push({ what: "large literal", path: large, text: "EXPORT_SYMBOL_GPL", target: 1 });
    trees.push({ what: "large names", path: large, names: "*.h", target: 1 });
  }
  return serveFigures(cordon, tool(RIPGREP, "rg"), trees);
}

/** Nothing found is an answer, not a failure; the shell between costs both sides the same. */
function quietly({ argv, ...rest }: Timed): Timed {
  return { ...rest, argv: ["sh", "-c", '"$@"; test $? -le 1', "sh", ...argv] };
}

/** What the build installed, or what the system has. */
function tool({ folder }: SearchTool, program: string): string {
  const installed = join(cacheFolder(), folder, "bin", program);
  return existsSync(installed) ? installed : program;
}

function makeSizedTree(parent: string, files: number): string {
  const root = join(parent, `sized-tree-1-${files}`);
  const complete = `${root}.complete`;
  if (existsSync(complete)) return root;
  for (let number = 0; number < files; number += 1) {
    const folder = join(root, `part${number % Math.ceil(files / FILES_A_FOLDER)}`);
    mkdirSync(folder, { recursive: true });
    const text = `const value = ${number};\n`.repeat(80) + (number % 50 === 0 ? `${NEEDLE}\n` : "");
    writeFileSync(join(folder, `file${number}.ts`), text);
  }
  writeFileSync(complete, "");
  return root;
}

/** Fetched once, by `npm run bench large`: the whole table must not wait minutes for it. */
function largeTree(parent: string, words: readonly string[]): { path: string } | { missing: string } {
  const path = join(parent, LARGE);
  if (existsSync(path)) return { path };
  if (!words.includes("large")) return { missing: "it is not here; npm run bench large fetches it" };
  const fresh = `${path}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    process.stderr.write(`  fetching ${LARGE} …\n`);
    const steps: [string[], number][] = [
      [["apt-get", "-q", "download", LARGE], FETCH_MS],
      [["sh", "-c", "dpkg-deb --fsys-tarfile ./*.deb | tar -xO --wildcards '*.tar.xz' | tar -xJ"], UNPACK_MS],
    ];
    for (const [argv, timeout] of steps) {
      if (Bun.which(argv[0] ?? "") === null) return { missing: `${argv[0]} is not installed` };
      const end = Bun.spawnSync(argv, { cwd: fresh, timeout, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
      if (!end.success) {
        const said = end.stderr.toString().trim().split("\n").at(-1);
        return { missing: `${argv[0]} ${end.exitCode === null ? "took too long" : `failed: ${said}`}` };
      }
    }
    const unpacked = readdirSync(fresh).find((name) => name.startsWith("linux-source") && !name.endsWith(".deb"));
    if (unpacked === undefined) return { missing: "the package holds no tree" };
    renameSync(join(fresh, unpacked), path);
    return { path };
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
