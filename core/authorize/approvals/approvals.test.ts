import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { addRules, builtinRules } from "../../config/builtin_rules.ts";
import type { Suggestion } from "../../contract/approval.ts";
import type { RuleLists } from "../../contract/verdict.ts";
import { createRuleJudge } from "../../engine/rule_judge.ts";
import { changedSince } from "../../store/file_mark.ts";
import { openGrantsFile } from "../../store/grants_file.ts";
import { type TempFolder, tempFolder } from "../../testing/temp_folder.ts";
import { bindCommand } from "./bind.ts";
import { createApprovalBook } from "./book.ts";
import { suggestionsFor } from "./suggest.ts";

const UID = process.getuid?.() ?? 0;
const NONE: RuleLists = { allow: [], ask: [], deny: [] };

function bookIn(folder: TempFolder, { workspace } = { workspace: "/w" }) {
  const clock = { now: 1000 };
  let ids = 0;
  const book = createApprovalBook({
    file: openGrantsFile(folder.at("state/grants.json"), UID),
    place: { cwd: workspace, home: "/h", workspace },
    now: () => clock.now,
    newId: () => `g${++ids}`,
  });
  return { book, clock };
}

const suggestion = (rule: string): Suggestion => ({ rule, rules: [rule], shows: rule });
const exact = { key: "a".repeat(64) };

describe("the book of approvals", () => {
  test("I6 a project's approval holds in its workspace and no other, a user's in all", () => {
    using folder = tempFolder();
    const { book } = bookIn(folder);
    const by = "a test";
    book.save({ suggestion: suggestion("Bash(a *)"), terms: { scope: "project" }, exact, by });
    book.save({ suggestion: suggestion("Bash(b *)"), terms: { scope: "user" }, exact, by });
    book.save({ suggestion: suggestion("Bash(c *)"), terms: { scope: "session" }, exact, by });
    expect(book.rules().map(({ rule }) => rule)).toEqual(["Bash(c *)", "Bash(a *)", "Bash(b *)"]);
    expect(
      bookIn(folder)
        .book.rules()
        .map(({ rule }) => rule),
    ).toEqual(["Bash(a *)", "Bash(b *)"]);
    expect(
      bookIn(folder, { workspace: "/other" })
        .book.rules()
        .map(({ rule }) => rule),
    ).toEqual(["Bash(b *)"]);
    expect(statSync(folder.at("state/grants.json")).mode & 0o777).toBe(0o600);
  });

  test("I6 time and uses run out, also across processes, and a clock that is set back makes nothing longer", () => {
    using folder = tempFolder();
    const { book, clock } = bookIn(folder);
    book.save({ suggestion: suggestion("Bash(a *)"), terms: { forMs: 50 }, exact, by: "" });
    book.save({ suggestion: suggestion("Bash(b *)"), terms: { uses: 2 }, exact, by: "" });
    const other = bookIn(folder).book;
    expect([book.use(["g2"]), other.use(["g2"]), book.use(["g2"]), other.use(["g2"])]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(book.rules().map(({ origin }) => origin)).toEqual(["approval g1"]);
    clock.now = 1049;
    expect(book.rules()).toHaveLength(1);
    for (const now of [1050, 999]) {
      clock.now = now;
      expect(book.rules()).toEqual([]);
    }
  });

  test("I6 a broken, foreign or open file grants nothing and says which file and what to do; a sound one grants", () => {
    using folder = tempFolder();
    const { book } = bookIn(folder);
    book.save({ suggestion: suggestion("Bash(a *)"), terms: {}, exact, by: "" });
    const path = folder.at("state/grants.json");
    const sound = readFileSync(path, "utf8");
    const fails = () => {
      expect(() => bookIn(folder).book.rules()).toThrow(
        expect.objectContaining({
          code: "policy.bad_grants",
          message: expect.stringContaining(path),
          hint: expect.stringMatching(/approvals clear|chmod 600/),
        }),
      );
      expect(() => bookIn(folder).book.save({ suggestion: suggestion("x"), terms: {}, exact, by: "" })).toThrow();
    };
    for (const broken of [
      "",
      sound.slice(0, -10),
      sound.replace('"v": 1', '"v": 2'),
      sound.replace('"scope": "project"', '"scope": "everywhere"'),
      sound.replace('"madeAt": 1000', '"madeAt": 1000, "usesLeft": "many"'),
      sound.replace('"madeAt": 1000', '"madeAt": 1000, "expireAt": 5'),
    ]) {
      writeFileSync(path, broken);
      fails();
    }
    writeFileSync(path, sound);
    chmodSync(path, 0o644);
    fails();
    chmodSync(path, 0o600);
    expect(bookIn(folder).book.rules()).toHaveLength(1);
  });
});

describe("what an exact approval is bound to", () => {
  const place = (folder: TempFolder) => ({ cwd: folder.root, searchPath: `${folder.at("bin")}:/usr/bin:/bin` });
  const script = "#!/bin/sh\necho one\n";
  const make = () => {
    const folder = tempFolder({ "run.sh": script, "bin/": "" });
    chmodSync(folder.at("run.sh"), 0o755);
    return folder;
  };

  const CHANGES: Record<string, (folder: TempFolder) => void> = {
    "other content of the same length": (folder) => writeFileSync(folder.at("run.sh"), script.replace("one", "two")),
    "a link in its place": (folder) => {
      writeFileSync(folder.at("evil"), script.replace("one", "two"), { mode: 0o755 });
      Bun.spawnSync(["ln", "-sf", folder.at("evil"), folder.at("run.sh")]);
    },
    "the script is gone": (folder) => Bun.spawnSync(["rm", folder.at("run.sh")]),
  };
  for (const [what, change] of Object.entries(CHANGES)) {
    for (const command of ["./run.sh", "sh run.sh", "timeout 5 ./run.sh", "ls && ./run.sh | cat"]) {
      test(`I6 ${what} is seen behind \`${command}\``, async () => {
        using folder = make();
        const { bound, complete } = await bindCommand(command, place(folder));
        expect(complete).toBe(true);
        expect(changedSince(bound)).toBeUndefined();
        change(folder);
        expect(changedSince(bound)).toBe(folder.at("run.sh"));
      });
    }
  }

  test("I6 a script that was written again with the same content is the same", async () => {
    using folder = make();
    const { bound } = await bindCommand("./run.sh", place(folder));
    Bun.spawnSync(["sh", "-c", "cp -p run.sh x && mv x run.sh"], { cwd: folder.root });
    expect(changedSince(bound)).toBeUndefined();
  });

  test("I6 another program that comes first in PATH is a change", async () => {
    using folder = make();
    const { bound } = await bindCommand("ls -l", place(folder));
    writeFileSync(folder.at("bin/ls"), script, { mode: 0o755 });
    expect(changedSince(bound)).toBeDefined();
  });

  test("I6 the scripts of package.json count for npm, and makefiles for make", async () => {
    using folder = make();
    writeFileSync(folder.at("Makefile"), "all:\n\techo one\n");
    const { bound, complete } = await bindCommand("sh run.sh; make", place(folder));
    if (!complete) return; // no make here
    writeFileSync(folder.at("Makefile"), "all:\n\techo two\n");
    expect(changedSince(bound)).toBe(folder.at("Makefile"));
  });

  test("I6 what can't be known before it runs can't be saved; its twin can", async () => {
    using folder = make();
    mkdirSync(folder.at("sub"));
    symlinkSync(folder.at("run.sh"), folder.at("sub/run.sh"));
    for (const [unknown, known] of [
      ["$TOOL -l", "ls -l"],
      ["ls $DIR", "ls sub"],
      ["cd sub && ./run.sh", "cd sub && ls"],
      ["PATH=/tmp ls", "LANG=C ls"],
      ["eval 'ls'", "ls"],
      ["sh -c './run.sh'", "sh ./run.sh"],
      ["no-such-program-here", "ls"],
      ['ls "', "ls"],
    ] as const) {
      expect([unknown, (await bindCommand(unknown, place(folder))).complete]).toEqual([unknown, false]);
      expect([known, (await bindCommand(known, place(folder))).complete]).toEqual([known, true]);
    }
  });
});

describe("what a question offers to save", () => {
  const judge = createRuleJudge(() => addRules(builtinRules("/h/state"), NONE));
  const question = (command: string) => ({
    tool: "bash",
    required: "danger-full-access" as const,
    mode: "workspace-write" as const,
    effects: [{ kind: "exec" as const, command }],
    params: { command },
    cwd: "/w",
    home: "/h",
    roots: ["/w"],
  });

  async function offered(command: string): Promise<string[]> {
    const asked = question(command);
    const decision = await judge.judge(asked, []);
    const { script } = await bindCommand(command, { cwd: "/w", searchPath: "" });
    const tryRules = (rules: readonly string[]) =>
      judge.judge(
        asked,
        rules.map((rule) => ({ rule, layer: "grant", origin: "approval x" })),
      );
    const all = await suggestionsFor({ question: asked, decision, command, script, exact: false, tryRules });
    return all.map(({ rule }) => rule);
  }

  const OFFERED: Record<string, string[]> = {
    "npm test": ["Bash(npm test)", "Bash(npm test *)"],
    // The exact rule would have a secret in it.
    "deploy --token=hunter2secret": ["Bash(deploy *)"],
    "npm run build -- --watch": ["Bash(npm run build -- --watch)", "Bash(npm run build *)"],
    "cargo build && git push origin main": [
      "Bash(cargo build), Bash(git push origin main)",
      "Bash(cargo build *), Bash(git push *)",
    ],
    // A rule on a program does not reach out of the workspace.
    "ls && mkdir -p /srv/x": ["Bash(mkdir -p /srv/x)"],
    "ls && mkfifo p": ["Bash(mkfifo p)", "Bash(mkfifo *)"],
    "git commit -m \"$(cat <<'E'\na date 2026-03-26\nb\nE\n)\"": ["Bash(git commit *)"],
    "git commit -F - <<'E'\nrm -rf x\n2026\nE": ["Bash(git commit -F -)", "Bash(git commit *)"],
  };
  for (const [command, rules] of Object.entries(OFFERED)) {
    test(`I6 ${JSON.stringify(command)} offers ${rules.join(" or ")}`, async () => {
      expect(await offered(command)).toEqual(rules);
    });
  }

  const NOTHING = [
    "python3 x.py",
    "python3 -c 'print(1)'",
    "node build.js",
    "bash deploy.sh",
    "sh -c 'make'",
    "env A=1 make",
    "sudo apt-get update",
    "xargs rm",
    "npx cowsay",
    "npm exec x",
    "docker run x",
    "make all",
    "./deploy.sh",
    "rm -rf build",
    "curl http://x | sh",
    "$X y",
    "cargo build && python3 x.py",
    "git config core.pager x",
    "eval ls",
  ];
  for (const command of NOTHING) {
    test(`I6 ${JSON.stringify(command)} offers no rule`, async () => {
      expect(await offered(command)).toEqual([]);
    });
  }
});
