/** Who may import whom, and which folders may touch the world. The reasons are in ARCHITECTURE.md. */
import { posix } from "node:path";
import ts from "typescript";
import { nodesOf, parse, placeOf, type Source } from "./sources.ts";

/** A folder may import only from folders in earlier rows, and from itself. */
const ORDER: string[][] = [
  ["core/contract", "core/version.ts"],
  ["core/store", "core/engine", "core/config"],
  ["core/authorize", "core/hooks", "core/sandbox", "core/output", "core/audit"],
  ["core/exec"],
  ["core/dispatch"],
  ["core/session"],
  ["core/agent", "core/mcp", "core/serve"],
  ["core/policy"],
  ["core/mod.ts", "core/testing"],
  ["cli"],
];

/** Tools hold no keys: they see the contract and nothing else. Only core/mod.ts knows them. */
const TOOLS = "core/tools";

/** The registry holds tools as records of the contract and knows none of them, so the dispatcher may know its type. */
const REGISTRY = "core/tools/registry.ts";

/** Modules and calls that reach outside, and the only places that may use them. */
type Reach = { what: string; modules: RegExp; uses: RegExp; places: string[] };

/**
 * write_fully writes to descriptors that are open already; run opens the one file that its --events names; grep_files reads the
 * patterns that -f names and looks at what PATH is; tour plays the world around the sandbox: it makes a scratch project and
 * listens outside.
 */
const FILES_IN_CLI = [
  "cli/ui/write_fully.ts",
  "cli/commands/run.ts",
  "cli/commands/grep_files.ts",
  "cli/commands/tour.ts",
];

const REACHES: Reach[] = [
  {
    what: "files",
    modules: /^(node:)?fs(\/promises)?$/,
    uses: /^Bun\.(file|write|Glob)$/,
    // Planning looks through look.ts alone, which remembers what a plan was made from.
    places: [
      "core/testing/",
      "core/exec/",
      "core/store/",
      "core/config/look.ts",
      "core/engine/load.ts",
      ...FILES_IN_CLI,
    ],
  },
  {
    what: "processes",
    modules: /^(node:)?child_process$/,
    uses: /^Bun\.(spawn|spawnSync|\$)$/,
    places: ["core/testing/", "core/exec/process/", "core/hooks/"],
  },
  {
    what: "sockets",
    modules: /^(node:)?(net|tls|http|https|http2|dgram|dns)$/,
    uses: /^(Bun\.(serve|listen|connect|udpSocket)|globalThis\.fetch)$/,
    places: ["core/exec/", "core/mcp/", "core/agent/", "cli/commands/tour.ts"],
  },
  {
    what: "the environment",
    modules: /^$/,
    uses: /^(process\.env|Bun\.env|import\.meta\.env)$/,
    places: ["cli/main.ts", "core/config/"],
  },
];

/** Every import and every use that breaks the rules, as "place: what is wrong". */
export function layerFaults(sources: Source[]): string[] {
  return sources.flatMap((source) => [...importFaults(source), ...reachFaults(source)]);
}

function importFaults(source: Source): string[] {
  // Bun.Transpiler.scanImports drops `import type`, and a type from the right is a dependency all the same.
  const found = ts.preProcessFile(source.text, true, true).importedFiles.map((file) => file.fileName);
  return found.flatMap((name) => {
    const target = inTree(source.path, name);
    if (target === undefined) return externalFault(source, name);
    return mayImport(source.path, target) ? [] : [`${source.path}: imports ${target}, which is not to its left`];
  });
}

/** The contract is nouns: TypeBox gives them their schemas, and nothing else belongs there. */
function externalFault(source: Source, name: string): string[] {
  const fine = !source.path.startsWith("core/contract/") || name === "@sinclair/typebox";
  return fine ? [] : [`${source.path}: imports ${name}, but core/contract may import TypeBox only`];
}

/** Path of an imported file of ours; undefined for packages and the runtime's own modules. */
function inTree(importer: string, name: string): string | undefined {
  if (name.startsWith("@cordon/")) return name === "@cordon/core" ? "core/mod.ts" : name.replace("@cordon/", "");
  return name.startsWith(".") ? posix.normalize(posix.join(posix.dirname(importer), name)) : undefined;
}

function mayImport(importer: string, target: string): boolean {
  if (target === "package.json") return true; // the version number
  const from = folderOf(importer);
  const to = folderOf(target);
  if (from === to) return true;
  if (from === TOOLS) return to === "core/contract";
  if (target === REGISTRY && from === "core/dispatch") return true;
  if (to === TOOLS) return from === "core/mod.ts" || from === "core/testing";
  const [fromRow, toRow] = [rowOf(from), rowOf(to)];
  return fromRow >= 0 && toRow >= 0 && toRow < fromRow;
}

function folderOf(path: string): string {
  const known = [...ORDER.flat(), TOOLS].find((folder) => path === folder || path.startsWith(`${folder}/`));
  return known ?? posix.dirname(path);
}

function rowOf(folder: string): number {
  return ORDER.findIndex((row) => row.includes(folder));
}

function reachFaults(source: Source): string[] {
  const imported = ts.preProcessFile(source.text, true, true).importedFiles.map((file) => file.fileName);
  const tree = parse(source);
  const uses = nodesOf(tree).filter((node) => ts.isPropertyAccessExpression(node));
  return REACHES.filter((reach) => !reach.places.some((place) => source.path.startsWith(place))).flatMap((reach) => [
    ...imported.filter((name) => reach.modules.test(name)).map((name) => say(source.path, name, reach)),
    ...uses
      .filter((use) => reach.uses.test(use.getText(tree)))
      .map((use) => say(placeOf(source, tree, use), use.getText(tree), reach)),
  ]);
}

function say(place: string, found: string, reach: Reach): string {
  return `${place}: uses ${found}, but ${reach.what} may be touched only in ${reach.places.join(", ")}`;
}
