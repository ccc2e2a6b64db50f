// A7: the table of modes in core/README.md, asked of the component.
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseMode } from "../config/world.ts";
import type { Effect, PolicyQuestion, RequiredPermission, RuleSource } from "../contract/verdict.ts";
import { compilePolicy, decider } from "./policy.ts";

/** A call of each kind that the table names. */
type Sample = { tool?: string; required?: RequiredPermission; effects: Effect[]; deny?: string };
const command = (text: string, deny?: string): Sample => ({
  effects: [{ kind: "exec", command: text }],
  ...(deny === undefined ? {} : { deny }),
});
const SAMPLES: Readonly<Record<string, Sample[]>> = {
  "reads a file of the workspace": [
    { tool: "read_file", required: "read-only", effects: [{ kind: "read", path: "/ws/a" }] },
  ],
  "writes a file of the workspace": [
    { tool: "write_file", required: "workspace-write", effects: [{ kind: "write", path: "/ws/a" }] },
  ],
  "writes a file elsewhere": [
    { tool: "write_file", required: "workspace-write", effects: [{ kind: "write", path: "/srv/a" }] },
    command("echo x > /srv/a"),
  ],
  "runs a command of the read-only table": [command("ls -la"), command("git log | head")],
  "runs a command that writes the workspace": [command("touch a"), command("echo x > a"), command("cp a b")],
  "runs any other command": [command("install a b"), command("rm a"), command("npm test")],
  "runs what is not understood, and no rule could be evaded": [command("python3 -c 1"), command("./x.sh")],
  "runs what is not understood, under a deny rule that it could evade": [
    command("python3 -c 1", "Bash(rm:*)"),
    command("make", "Bash(rm:*)"),
    command("python3 -c 1", "Read(.env)"),
  ],
  "connects to a host": [
    { tool: "WebFetch", effects: [{ kind: "net", host: "example.com" }] },
    command("curl -s https://example.com"),
  ],
  "starts a subagent": [{ tool: "Agent", effects: [] }],
  "changes a file of permission settings": [
    command("echo x > .cordon/config.json"),
    {
      tool: "write_file",
      required: "workspace-write",
      effects: [{ kind: "write", path: "/ws/.claude/settings.json" }],
    },
  ],
  "runs PowerShell or cmd text": [command("pwsh -c ls"), command("cmd.exe /c dir")],
  "removes /, the home folder, the workspace or a disk": [
    command("rm -rf /"),
    command("rm -rf ~"),
    command("rm -rf /ws"),
    command("dd if=a of=/dev/sda"),
  ],
  "starts a fork bomb": [command(":(){ :|:& };:")],
  "waits for a person at a terminal": [command("vim a"), command("git rebase -i main"), command("read x")],
};

/** The cells of the table: mode, what the call does, verdict. */
function cells(): [string, string, string][] {
  const text = readFileSync(join(import.meta.dir, "../README.md"), "utf8");
  const [, table = ""] = text.split(/<!-- \/?modes -->/);
  const rows = table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const [head = [], , ...body] = rows;
  return body.flatMap(([what = "", ...verdicts]) =>
    verdicts.flatMap((verdict, at) =>
      (head[at + 1] ?? "").split(", ").map((mode) => [mode, what, verdict] as [string, string, string]),
    ),
  );
}

test("A7 every cell of the table of modes is what the component says", async () => {
  const all = cells();
  expect(new Set(all.map(([mode]) => mode)).size).toBe(8);
  expect([...new Set(all.map(([, what]) => what))].sort()).toEqual(Object.keys(SAMPLES).sort());
  const wrong: string[] = [];
  for (const [name, what, verdict] of all)
    for (const sample of SAMPLES[what] ?? []) {
      const got = await verdictOf(name, sample);
      if (got !== verdict) wrong.push(`${name}: ${what} (${JSON.stringify(sample.effects)}) is ${got}, not ${verdict}`);
    }
  expect(wrong).toEqual([]);
});

async function verdictOf(name: string, sample: Sample): Promise<string> {
  const { mode, asks } = parseMode(name, "the table");
  const rule = (text: string): RuleSource => ({ rule: text, layer: "user", origin: "the table" });
  const compiled = await compilePolicy({ allow: [], ask: [], deny: sample.deny ? [rule(sample.deny)] : [] });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.faults));
  const question: PolicyQuestion = {
    tool: sample.tool ?? "bash",
    required: sample.required ?? "danger-full-access",
    mode,
    effects: sample.effects,
    params: {},
    cwd: "/ws",
    home: "/home/me",
    roots: ["/ws"],
    ...(asks === undefined ? {} : { asks }),
  };
  return (await decider(compiled.policy))(question).verdict;
}
