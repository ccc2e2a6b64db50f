/** Another parser of bash as a second opinion on the scripts of this machine: mvdan/sh, as npm's sh-syntax has it. */
import { describe, expect, test } from "bun:test";
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type File, getProcessor, LangVariant } from "sh-syntax";
import {
  parseShell,
  type ShellItem,
  type ShellNode,
  type ShellRedirect,
  type ShellScript,
  type ShellWord,
} from "../../core/engine/policy.ts";

/** Each parse by the other one starts a runtime of Go: all of them take minutes. */
const MOST = process.env.CORDON_ORACLE_SCRIPTS === "all" ? Number.POSITIVE_INFINITY : 40;
const LARGEST_BYTES = 60_000;
const FOLDERS = [
  "/usr/bin",
  "/usr/sbin",
  "/etc",
  "/usr/lib/git-core",
  "/usr/share/bash-completion",
  "/usr/share/doc",
  "/var/lib/dpkg/info",
];
const OWN = join(import.meta.dir, "../../node_modules");

function isScript(path: string): boolean {
  if (path.includes("/completions/")) return true;
  const head = Buffer.alloc(40);
  const fd = openSync(path, "r");
  readSync(fd, head, 0, 40, 0);
  closeSync(fd);
  return /^#! ?(?:\/usr)?\/bin\/(?:env )?(?:ba)?sh\b/.test(head.toString("latin1"));
}

function scriptsBelow(folder: string, depth = 5): string[] {
  const entries = (() => {
    try {
      return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch {
      return [];
    }
  })();
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? scriptsBelow(path, depth - 1) : [];
    try {
      return entry.isFile() && statSync(path).size < LARGEST_BYTES && isScript(path) ? [path] : [];
    } catch {
      return [];
    }
  });
}

/** Every command of a script in words: what is certain as it is, the rest by its kinds. */
function commandsOf(script: ShellScript): string[] {
  const found: string[] = [];
  const word = ({ text, dynamic = [], subs = [] }: ShellWord): string => {
    for (const { body } of subs) items(body);
    return text === undefined ? `<${[...new Set(dynamic)].sort().join(" ")}>` : JSON.stringify(text);
  };
  const redirect = ({ op, fd = "", target, here_doc: doc }: ShellRedirect): string => {
    const body = doc === undefined ? undefined : script.here_docs[doc];
    for (const { body: inner } of body?.subs ?? []) items(inner);
    return doc === undefined ? `${fd}${op}${word(target)}` : `${fd}${op} ${JSON.stringify(body?.text ?? "<>")}`;
  };
  const node = (one: ShellNode): void => {
    if (one.type === "pipeline" || one.type === "and_or") {
      for (const inner of one.type === "pipeline" ? one.stages : one.nodes) node(inner);
      return;
    }
    const words = one.words.map(word);
    const redirects = one.redirects.map(redirect);
    if (one.type === "simple") {
      const set = one.assignments.map(({ name, append, values }) => `${name}${append ? "+" : ""}=${values.map(word)}`);
      found.push([...set, ...words, ...redirects].join(" "));
    } else {
      found.push([one.type, one.name ?? "", ...words, ...redirects].join(" "));
      one.bodies.forEach(items);
    }
  };
  const items = (list: readonly ShellItem[]) => {
    for (const { node: one } of list) node(one);
  };
  items(script.items);
  return found;
}

const bashAccepts = (source: string) =>
  Bun.spawnSync(["/bin/bash", "--norc", "-O", "extglob", "-n"], {
    stdin: Buffer.from(source),
    stdout: "ignore",
    stderr: "ignore",
  }).exitCode === 0;

/** The package would compile its module anew for each text. */
const compiled = WebAssembly.compile(readFileSync(fileURLToPath(import.meta.resolve("sh-syntax/main.wasm"))));
const mvdan = getProcessor(async (imports: Bun.WebAssembly.Imports) =>
  WebAssembly.instantiate(await compiled, imports),
);

async function theirs(source: string): Promise<{ tree: File; text: string } | undefined> {
  const variant = LangVariant.LangBash;
  try {
    return { tree: await mvdan(source, { variant }), text: await mvdan(source, { variant, print: true }) };
  } catch {
    return undefined;
  }
}

/** What is different of one script, and who is right where that can be said. */
async function compare(path: string): Promise<string | undefined> {
  const source = readFileSync(path, "utf8");
  const [ours, other] = [await parseShell(source), await theirs(source)];
  if (!ours.ok) return other && bashAccepts(source) ? `refused: ${ours.fault.message}` : undefined;
  if (!other) return bashAccepts(source) ? undefined : "accepted, though bash and mvdan/sh refuse it";
  const starts = other.tree.Stmts.map(({ Pos }) => Pos.Offset);
  const own = ours.script.items.map(({ node }) => node.span[0]);
  const at = own.findIndex((start, index) => start !== starts[index]);
  if (own.length !== starts.length || at >= 0)
    return `the statements begin elsewhere: ${own.length} and ${starts.length}, ${own[at]} and ${starts[at]}`;
  const printed = await parseShell(other.text);
  if (!printed.ok) return `refused as mvdan/sh prints it: ${printed.fault.message}`;
  const [before, after] = [commandsOf(ours.script), commandsOf(printed.script)];
  const line = before.findIndex((command, index) => command !== after[index]);
  return before.length === after.length && line < 0
    ? undefined
    : `other commands: ${before[line] ?? "none"} and ${after[line] ?? "none"}`;
}

describe("mvdan/sh", () => {
  const all = [...FOLDERS, OWN].flatMap((folder) => scriptsBelow(folder));
  const step = Math.max(1, all.length / MOST);
  const sample = Array.from({ length: Math.min(MOST, all.length) }, (_, at) => all[Math.floor(at * step)] ?? "");

  test(`C14 sees the same statements and commands in ${sample.length} of the ${all.length} scripts here, CORDON_ORACLE_SCRIPTS=all in each`, async () => {
    const different: string[] = [];
    for (const path of sample) {
      const found = await compare(path);
      if (found !== undefined) different.push(`${path}: ${found}`);
    }
    expect(different).toEqual([]);
  }, 1_800_000);
});
