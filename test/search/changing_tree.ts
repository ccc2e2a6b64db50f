/**
 * A process that changes a tree at random, as long as it may: `bun changing_tree.ts FOLDER SEED`. A line on stdin lets it run or stops
 * it; it answers each line with one, once it has stopped or is about to run, and at the end it says how often it made each change. FOLDER has the tree in `work/tree`, what is moved
 * out of it in `outside`, and a home in `home`.
 */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Words that searches look for. */
export const WORDS = [
  "needle",
  "haystack",
  "Lantern",
  "kelvin\u212A",
  "stra\u00DFe",
  "function foo(",
  "TODO: mend",
  "abc",
  "zzzz",
];

const NAMES = ["a.ts", "b.ts", "c.rs", "notes.md", "x.log", "data", ".hidden", "q", "w.txt", "e.json"];
const FOLDERS = ["src", "lib", "gen", "deep", ".dot", "node_modules"];
const RULES = ["*.log", "gen/", "!x.log", "/src/*.ts", "node_modules", "data", "*.rs", "**/deep", ".hidden", "# none"];
const IGNORE_FILES = [".gitignore", ".ignore", ".rgignore"];

/** The same numbers for the same seed (a linear congruential generator). */
export function dice(seed: number): (end: number) => number {
  let state = BigInt(seed);
  return (end) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffff_ffff_ffff_ffffn;
    return Number((state >> 33n) % BigInt(end));
  };
}

/** Makes the tree to begin with: some hundred files, so that an index of it is worth keeping. */
export function makeChangingTree(top: string, seed: number): void {
  const roll = dice(seed);
  for (const folder of ["outside", "home/.config/git", "work/.git/info"])
    mkdirSync(join(top, folder), { recursive: true });
  for (let part = 0; part < PARTS; part += 1) fillPart(top, part, roll);
}

function fillPart(top: string, part: number, roll: (end: number) => number): void {
  const folder = join(top, "work/tree", `part${part}`, FOLDERS[part % FOLDERS.length] ?? "");
  if (existsSync(folder) && readdirSync(folder).length > FILES_A_PART) return;
  mkdirSync(folder, { recursive: true });
  for (let file = 0; file < FILES_A_PART; file += 1) writeFileSync(join(folder, `f${file}.ts`), textOf(roll));
}

const PARTS = 40;
const FILES_A_PART = 12;

/** So seldom a text is longer than what is read first of a file, most of them. */
const LONG_EVERY = 6;

function textOf(roll: (end: number) => number): string | Uint8Array {
  const lines = Array.from(
    { length: roll(12) },
    () => `line ${roll(50)} ${roll(3) === 0 ? (WORDS[roll(WORDS.length)] ?? "") : "-"}`,
  );
  const short = `${lines.join(roll(6) === 0 ? "\r\n" : "\n")}\n`;
  const filling = roll(LONG_EVERY) === 0 ? "nothing to look for\n".repeat(300 + roll(600)) : "";
  const text = roll(2) === 0 ? short + filling : filling + short;
  if (roll(20) === 0) return Buffer.from(`\uFEFF${text}`, "utf16le");
  return roll(15) === 0 ? `${text}\0${text}` : text;
}

type Change = (place: ChangingPlace) => void;

/** Where one change happens. */
export class ChangingPlace {
  readonly open: number[] = [];
  readonly top: string;
  readonly roll: (end: number) => number;

  constructor(top: string, roll: (end: number) => number) {
    this.top = top;
    this.roll = roll;
  }

  get tree(): string {
    return join(this.top, "work/tree");
  }

  pick<Item>(from: readonly Item[]): Item {
    const item = from[this.roll(from.length)];
    if (item === undefined) throw new Error("nothing to pick from");
    return item;
  }

  /** Some folder of the tree. */
  folder(): string {
    let folder = this.tree;
    for (let depth = this.roll(4); depth > 0; depth -= 1) {
      const inner = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
      if (inner.length > 0) folder = join(folder, this.pick(inner).name);
    }
    return folder;
  }

  /** Some file of the tree, or a name that may be none. */
  file(): string {
    const folder = this.folder();
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    return join(folder, files.length > 0 && this.roll(4) > 0 ? this.pick(files).name : this.name());
  }

  name(): string {
    return this.roll(3) === 0 ? `n${this.roll(40)}.ts` : this.pick(NAMES);
  }

  isOpen(file: string): boolean {
    const { ino } = statSync(file);
    return this.open.some((fd) => fstatSync(fd).ino === ino);
  }

  outside(): string {
    return join(this.top, "outside", `o${this.roll(10)}`);
  }

  text(): string | Uint8Array {
    return textOf(this.roll);
  }

  rules(): string {
    return `${Array.from({ length: this.roll(4) }, () => this.pick(RULES)).join("\n")}\n`;
  }
}

const CHANGES: Record<string, Change> = {
  write: (at) => writeFileSync(at.file(), at.text()),
  create: (at) => writeFileSync(join(at.folder(), at.name()), at.text()),
  append: (at) => appendFileSync(at.file(), `${at.pick(WORDS)}\n`),
  cut: (at) => truncateSync(at.file(), at.roll(40)),
  rename: (at) => renameSync(at.file(), at.file()),
  renameOver: (at) => {
    const file = at.file();
    writeFileSync(`${file}.new`, at.text());
    renameSync(`${file}.new`, file);
  },
  remove: (at) => rmSync(at.file(), { force: true }),
  link: (at) => {
    const file = at.file();
    rmSync(file, { force: true });
    symlinkSync(at.file(), file);
  },
  /** Not to where nobody watches, and not of a file that is written to without a name: no event tells of a write there (ADR 16). */
  hardLink: (at) => {
    const file = at.file();
    if (at.isOpen(file)) return;
    const other = join(dirname(file), at.name());
    linkSync(file, other);
    if (at.roll(2) === 0) appendFileSync(other, `${at.pick(WORDS)}\n`);
  },
  hardLinkFromOutside: (at) => {
    const outer = at.outside();
    if (existsSync(outer) && !statSync(outer).isFile()) return;
    writeFileSync(outer, at.text());
    linkSync(outer, at.file());
    appendFileSync(outer, `${at.pick(WORDS)}\n`);
  },
  writeOutside: (at) => appendFileSync(at.outside(), `${at.pick(WORDS)}\n`),
  makeFolders: (at) => {
    const folder = join(at.folder(), at.pick(FOLDERS), at.pick(FOLDERS));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, at.name()), at.text());
  },
  removeFolder: (at) => {
    const folder = at.folder();
    if (folder !== at.tree && at.roll(3) === 0) rmSync(folder, { recursive: true });
  },
  renameFolder: (at) => {
    const folder = at.folder();
    if (folder !== at.tree) renameSync(folder, join(at.folder(), at.pick(FOLDERS)));
  },
  swapFolders: (at) => {
    const [one, other] = [at.folder(), at.folder()];
    if (one === at.tree || other === at.tree) return;
    const aside = join(at.top, "outside", "aside");
    renameSync(one, aside);
    try {
      renameSync(other, one);
    } finally {
      renameSync(aside, existsSync(other) ? one : other);
    }
  },
  moveOut: (at) => {
    const folder = at.folder();
    if (folder !== at.tree) renameSync(folder, at.outside());
  },
  moveIn: (at) => renameSync(at.outside(), join(at.folder(), at.pick(FOLDERS))),
  copyFile: (at) => copyFileSync(at.file(), at.file()),
  rules: (at) => writeFileSync(join(at.folder(), at.pick(IGNORE_FILES)), at.rules()),
  rulesAbove: (at) => writeFileSync(join(at.top, "work", at.pick(IGNORE_FILES)), at.rules()),
  exclude: (at) => writeFileSync(join(at.top, "work/.git/info/exclude"), at.rules()),
  globalExcludes: (at) => writeFileSync(join(at.top, "home/.config/git/ignore"), at.rules()),
  repository: (at) => {
    const git = join(at.folder(), ".git");
    if (existsSync(git)) rmSync(git, { recursive: true });
    else mkdirSync(git);
  },
  /** The same length and the same time as before: only an event tells. */
  inSecret: (at) => {
    const file = at.file();
    const { atime, mtime, size } = statSync(file);
    if (size < 12) return;
    const fd = openSync(file, "r+");
    writeSync(fd, at.pick(["needle", "abcabc", "------"]), 0);
    closeSync(fd);
    utimesSync(file, atime, mtime);
  },
  touch: (at) => utimesSync(at.file(), at.roll(1_000_000), at.roll(1_000_000)),
  mode: (at) => chmodSync(at.file(), at.pick([0o600, 0o644, 0o755])),
  modeOfFolder: (at) => {
    const folder = at.folder();
    if (folder !== at.tree) chmodSync(folder, at.pick([0o700, 0o755]));
  },
  /** Written to again and again without being closed. */
  keepOpen: (at) => {
    const file = at.file();
    if (existsSync(file) && statSync(file).nlink > 1) return;
    at.open.push(openSync(file, "a+"));
    if (at.open.length > 6) closeSync(at.open.shift() ?? -1);
  },
  writeOpen: (at) => {
    if (at.open.length === 0) return;
    const fd = at.pick(at.open);
    if (at.roll(8) === 0) ftruncateSync(fd, Math.min(fstatSync(fd).size, at.roll(60)));
    else writeSync(fd, `${at.pick(WORDS)}\n`);
  },
};

/** So seldom what was removed is made anew, for the tree not to end. */
const REFILL_EVERY = 60;

/** What is done most. */
const OFTEN = ["write", "create", "append", "rename", "remove", "inSecret", "writeOpen", "renameOver"];

/** Whatever changes which rules hold makes a server forget what it knows of a tree: so seldom that there is something to be forgotten. */
const SELDOM = [
  "rules",
  "rulesAbove",
  "exclude",
  "globalExcludes",
  "repository",
  "moveIn",
  "moveOut",
  "swapFolders",
  "renameFolder",
];
const SELDOM_EVERY = 60;

/** Changes something at random, and says what, if it could. */
export function changeOnce(place: ChangingPlace): string | undefined {
  const any = place.roll(3) > 0 ? place.pick(OFTEN) : place.pick(Object.keys(CHANGES));
  const name = SELDOM.includes(any) && place.roll(SELDOM_EVERY) > 0 ? place.pick(OFTEN) : any;
  try {
    if (place.roll(REFILL_EVERY) === 0) fillPart(place.top, place.roll(PARTS), place.roll);
    CHANGES[name]?.(place);
    return name;
  } catch (error) {
    // What is asked for at random is often impossible: no such file, a folder in its own, something in the place.
    if (!(error instanceof Error && "code" in error)) throw error;
    return undefined;
  }
}

if (import.meta.main) {
  const [, , top = "", seed = "1"] = process.argv;
  const place = new ChangingPlace(top, dice(Number(seed)));
  const made: Record<string, number> = {};
  let runs = false;
  void (async () => {
    for await (const chunk of Bun.stdin.stream()) {
      for (const _ of Buffer.from(chunk).toString().matchAll(/\n/g)) {
        runs = !runs;
        process.stdout.write("\n");
        if (runs) void go();
      }
    }
    process.stdout.write(JSON.stringify(made), () => process.exit(0));
  })();

  async function go(): Promise<void> {
    while (runs) {
      for (let step = 0; step < 4; step += 1) {
        const name = changeOnce(place);
        if (name !== undefined) made[name] = (made[name] ?? 0) + 1;
      }
      await new Promise((resume) => setImmediate(resume));
    }
  }
}
