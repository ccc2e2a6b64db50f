// `cordon grep` and `cordon glob`: what people see is what ripgrep shows, on the path that all tool calls take.
import { beforeAll, afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";
import { ripgrep } from "./ripgrep.ts";

let scratch: Scratch;

beforeAll(() => {
  scratch = makeScratch();
  const files: Record<string, string> = {
    "src/a.ts": "let one = 1;\n\nfoo(one);\nlet two = 2;\n",
    "src/b.rs": "fn foo() {}\nlet x = foo;\r\n",
    "README.md": "about foo and Foo\n",
    ".gitignore": "ignored.txt\n",
    ".git/HEAD": "",
    "ignored.txt": "foo\n",
    ".env": "SECRET=foo\n",
    patterns: "foo\\(\nx =\n",
    ".hidden": "foo\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(scratch.work, name, ".."), { recursive: true });
    writeFileSync(join(scratch.work, name), text);
  }
});

afterAll(() => removeScratch(scratch));

const cordon = (...args: string[]) => runCordon(args, { scratch });

describe("D7 cordon grep", () => {
  test.skipIf("missing" in ripgrep)("prints what rg prints, with the same flags", async () => {
    for (const flags of [
      ["foo"],
      ["-n", "foo"],
      ["-i", "foo"],
      ["-w", "foo"],
      ["-F", "foo("],
      ["-l", "foo"],
      ["-c", "foo"],
      ["-n", "-C", "1", "foo"],
      ["-A", "1", "let"],
      ["-g", "*.ts", "let"],
      ["-g", "!*.ts", "foo"],
      ["-t", "rust", "foo"],
      ["-S", "FOO"],
      ["--regexp=-nothing"],
      ["--no-ignore", "foo"],
      ["foo", "src"],
      ["-il", "foo"],
      ["-nC1", "foo"],
      ["-A1", "let"],
      ["-e", "foo", "-e", "let"],
      ["-T", "rust", "foo"],
      ["-vc", "foo"],
      ["-on", "fo+"],
      ["-xn", "let x = foo;"],
      ["--count-matches", "o"],
      ["--files-without-match", "foo"],
      ["-m1", "let"],
      ["-0l", "foo"],
      ["--column", "two"],
      ["--vimgrep", "o"],
      ["-Un", "one = 1;\n\nfoo"],
      ["-U", "one.*foo"],
      ["-U", "--multiline-dotall", "-l", "one.*foo"],
      ["--heading", "-n", "foo"],
      ["--iglob", "*.MD", "foo"],
      ["-f", "patterns", "src"],
      ["--files"],
      ["--files", "-t", "rust", "-g", "!*.md"],
      ["--files", "-0", "src"],
      ["--files", "-t", "rust", "-g", "!*.md", "README.md"],
      ["--files", "src/a.ts"],
      ["foo", "src/a.ts"],
      ["-H", "foo", "src/a.ts"],
      ["foo", "./src", "README.md"],
      ["-C1", "foo", "src/a.ts", "src/b.rs"],
      ["-q", "foo"],
      ["-q", "nothing like it"],
      ["-m0", "foo"],
      ["--", "-nothing"],
      ["-n", "foo)|(let"],
      ["-n", "-e", "foo)|(let", "-e", "about"],
      ["-x", "let one = 1;)|(x"],
      ["-w", "fo)|(two"],
      ["-o", "-i", "one)|(FOO"],
      ["-U", "one = 1;\n\nfoo)|(x ="],
      ["(let) (one|x)"],
    ]) {
      const program = "path" in ripgrep ? ripgrep.path : "rg";
      const paths = /^(\.\/)?(src|README)/.test(flags.at(-1) ?? "") ? [] : ["."];
      const theirs = Bun.spawnSync([program, "--no-config", "--sort=path", "--crlf", ...flags, ...paths], {
        cwd: scratch.work,
      });
      const { stdout, code, stderr } = await cordon("grep", ...flags);
      const text = theirs.stdout.toString().replaceAll("\r\n", "\n");
      const expected = paths.length > 0 ? text.replace(/(^|\0)\.\//gm, "$1") : text;
      expect({ flags, stdout, code, stderr }).toEqual({ flags, stdout: expected, code: theirs.exitCode, stderr: "" });
    }
  });

  test("ends with 0, 1 or 2, and with 121 for a command line that makes no sense", async () => {
    expect((await cordon("grep", "foo")).code).toBe(0);
    expect((await cordon("grep", "nothing like it")).code).toBe(1);
    const bad = await cordon("grep", "f(");
    expect(bad.code).toBe(2);
    expect(bad.stderr).toContain("at character 2");
    expect(bad.stderr).toContain("\\(");
    expect((await cordon("grep", "foo", "nowhere")).code).toBe(2);
    expect((await cordon("grep")).code).toBe(121);
    expect((await cordon("grep", "-C", "many", "x")).code).toBe(121);
  });

  test("of patterns that make no pattern together, or none in a group, the first is named that can't be used", async () => {
    for (const [flags, said] of [
      [["-e", "a)", "-e", "(b"], '"a)": unopened group at character 2'],
      [["-e", "a", "-e", "b{2"], '"b{2": unclosed counted repetition at character 2'],
      [["-x", "a)"], '"a)": unopened group at character 2'],
      [["-e", "(?x) a # b", "-e", "c"], '"(?:(?x) a # b)": unclosed group'],
      [["(?x) a # b"], '"(?:(?x) a # b)": unclosed group'],
    ] as const) {
      const { code, stderr, stdout } = await cordon("grep", ...flags);
      expect({ flags, code, stdout, stderr }).toEqual({
        flags,
        code: 2,
        stdout: "",
        stderr: expect.stringContaining(said),
      });
    }
    expect((await cordon("grep", "-e", "(?x) foo # b\n", "-e", "let")).code).toBe(0);
  });

  test("a flag that ripgrep has and cordon has not says what to do, and an unknown one names the nearest", async () => {
    for (const [flags, hint] of [
      [["-P", "a(?=b)"], "look-around"],
      [["--replace=x", "foo"], "sed"],
      [["-L", "foo"], "PATH"],
      [["--json", "foo"], "cordon call grep_search"],
      [["--files-with-match", "foo"], "--files-with-matches"],
      [["--colour=never", "foo"], "--color"],
      [["-uuu", "foo"], "-uu"],
      [["-n3", "foo"], "flags"],
    ] as const) {
      const { code, stderr, stdout } = await cordon("grep", ...flags);
      expect({ flags, code, stdout }).toEqual({ flags, code: 121, stdout: "" });
      expect(stderr).toContain(hint);
    }
  });

  test("D10 leaves secrets out whatever is asked for, and searches hidden files when asked to", async () => {
    const { stdout } = await cordon("grep", "--hidden", "--no-ignore", "-l", "foo");
    expect(stdout.split("\n")).toContain(".hidden");
    expect(stdout).not.toContain(".env");
    expect((await cordon("grep", "foo", ".env")).code).toBe(3);
    expect((await cordon("grep", "foo", ".hidden")).code).toBe(0);
    expect(await cordon("grep", "--files", ".env")).toMatchObject({ code: 3, stdout: "" });
    expect(await cordon("grep", "--files", ".hidden", "ignored.txt")).toMatchObject({
      code: 0,
      stdout: ".hidden\nignored.txt\n",
    });
  });

  test("a rule keeps what it denies out, and the log has a row for the call", async () => {
    expect((await cordon("grep", "--deny", "Read(./src/**)", "-l", "foo")).stdout).toBe("README.md\npatterns\n");
    expect(readFileSync(join(scratch.state, "audit.jsonl"), "utf8")).toContain('"grep_search"');
  });

  test("colours are those of the matches, in all lines", async () => {
    const { stdout } = await cordon("grep", "--color=always", "-Hn", "o+", "README.md");
    const red = (text: string) => `\u001b[1;31m${text}\u001b[0m`;
    expect(stdout).toBe(
      `\u001b[35mREADME.md\u001b[0m:\u001b[32m1\u001b[0m:ab${red("o")}ut f${red("oo")} and F${red("oo")}\n`,
    );
  });

  test("long results come whole", async () => {
    writeFileSync(join(scratch.work, "long.txt"), "a line of a long file, which goes on\n".repeat(20_000));
    const { stdout } = await cordon("grep", "-n", "goes on", "long.txt");
    expect(stdout.split("\n").length).toBe(20_001);
  });
});

describe("A5 a pattern that can't be used", () => {
  test("is shown as it was written, with the place in it, whatever flags put around it", async () => {
    writeFileSync(join(scratch.work, "bad-patterns"), "fine\nalso (fine)\nnot(\n");
    for (const [flags, pattern, place] of [
      [["foo("], "foo(", 4],
      [["-w", "foo("], "foo(", 4],
      [["-x", "foo("], "foo(", 4],
      [["-ix", "foo("], "foo(", 4],
      [["-U", "foo("], "foo(", 4],
      [["-e", "fine", "-e", "a[b"], "a[b", 2],
      [["-x", "-e", "*a", "-e", "a"], "*a", 1],
      [["-f", "bad-patterns"], "not(", 4],
      [["-e", "é", "-e", "éé{"], "éé{", 3],
    ] as const) {
      const { code, stderr, stdout } = await cordon("grep", ...flags);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toStartWith(`cordon: search.bad_pattern: Cannot compile the pattern "${pattern}": `);
      expect(stderr.split("\n").at(0)).toEndWith(`at character ${place}`);
    }
    for (const flags of [
      ["-F", "foo("],
      ["-Fx", "foo("],
      ["-F", "-e", "foo(", "-e", "["],
    ]) {
      expect((await cordon("grep", "-q", ...flags)).stderr).toBe("");
    }
  });

  test("a type that there is not gets the nearest ones, a file of patterns that is not there its reason", async () => {
    expect((await cordon("grep", "-t", "pyton", "x")).stderr).toContain('Did you mean "python"');
    expect((await cordon("grep", "-T", "rsut", "x")).stderr).toContain('"rust"');
    expect((await cordon("grep", "-t", "qqqqqqqq", "x")).stderr).not.toContain("Did you mean");
    expect((await cordon("grep", "-f", "nowhere")).stderr).toContain('"nowhere" can\'t be read: there is no such file');
  });
});

describe("D6 cordon glob", () => {
  test("prints the paths that fit, by path, and ends with 0 or 1", async () => {
    expect(await cordon("glob", "**/*.{ts,rs}")).toMatchObject({ stdout: "src/a.ts\nsrc/b.rs\n", code: 0 });
    expect(await cordon("glob", "*.RS", "-i")).toMatchObject({ stdout: "src/b.rs\n", code: 0 });
    expect(await cordon("glob", "*.txt", "src")).toMatchObject({ stdout: "", code: 1 });
    expect((await cordon("glob", "ignored*")).code).toBe(1);
    expect((await cordon("glob", "--no-ignore", "ignored*")).stdout).toBe("ignored.txt\n");
    expect((await cordon("glob", "a{b")).code).toBe(2);
    expect((await cordon("glob", "../*")).code).toBe(2);
  });
});
