import type { PolicyQuestion } from "../contract/verdict.ts";

/** Where samples are made. */
export type SamplePlace = { cwd: string; home: string; workspace: string };

/** Words that stand for what a `*` of a rule may be. */
const WORD = "sample";

const PATH_READERS = ["read", "read_file", "grep", "grep_search", "glob", "glob_search", "ls", "list_dir"];
const PATH_WRITERS = [
  "edit",
  "edit_file",
  "write",
  "write_file",
  "multiedit",
  "multi_edit",
  "apply_patch",
  "notebookedit",
];

/**
 * A plain call that a rule is about, made by putting a word for each star; undefined where the rule's form says too little. It is
 * a guess: whoever uses it asks the component whether the rule matches it.
 */
export function sampleOf(rule: string, place: SamplePlace): PolicyQuestion | undefined {
  const parts = partsOf(rule);
  if (parts === undefined) return undefined;
  const { tool, spec } = parts;
  const name = tool.toLowerCase();
  const common = {
    mode: "workspace-write" as const,
    cwd: place.cwd,
    home: place.home,
    roots: [place.workspace],
    explain: true,
  };
  if (name === "bash" || name === "shell") {
    const command = spec === undefined ? `${WORD}-command ${WORD}` : commandOf(spec);
    return {
      tool: "bash",
      required: "danger-full-access",
      effects: [{ kind: "exec", command }],
      params: { command },
      ...common,
    };
  }
  const reads = PATH_READERS.includes(name);
  if (reads || PATH_WRITERS.includes(name)) {
    const path = pathOf(spec ?? `./${WORD}`, place);
    const effects = [{ kind: reads ? "read" : "write", path } as const];
    const required = reads ? "read-only" : "workspace-write";
    return { tool: reads ? "read_file" : "write_file", required, effects, params: { path }, ...common };
  }
  if (name.startsWith("mcp__")) {
    const called = /^mcp__[^_]+(?:_[^_]+)*$/.test(tool) ? `${tool}__${WORD}` : tool.replaceAll("*", WORD);
    return { tool: called, required: "danger-full-access", effects: [], params: {}, ...common };
  }
  return undefined;
}

/** The tool and the text in brackets. */
export function partsOf(rule: string): { tool: string; spec?: string } | undefined {
  const match = /^([^()]+)(?:\(([\s\S]*)\))?$/.exec(rule.trim());
  const [, tool, spec] = match ?? [];
  if (tool === undefined) return undefined;
  return { tool: tool.trim(), ...(spec === undefined || spec === "" || spec === "*" ? {} : { spec }) };
}

function commandOf(spec: string): string {
  const prefix = spec.endsWith(":*") ? `${spec.slice(0, -2)} *` : spec;
  return prefix.replaceAll("*", WORD);
}

function pathOf(spec: string, { cwd, home, workspace }: SamplePlace): string {
  const filled = spec
    .replaceAll(/\*\*|\*/g, WORD)
    .replaceAll("?", "x")
    .replace(/\/$/, `/${WORD}`);
  if (filled.startsWith("//")) return filled.slice(1);
  if (filled === "~" || filled.startsWith("~/")) return home + filled.slice(1);
  if (filled.startsWith("/")) return workspace + filled;
  return `${cwd}/${filled.replace(/^\.\//, "")}`;
}
