// D2, D10: a deny rule on reading, and sandbox.denyRead, hide files from commands as well as from tools.
import { expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { describeEachTier } from "../support/each_tier.ts";
import { runCordon } from "../support/run_cordon.ts";

describeEachTier(({ scratch, around }) => {
  const at = (...parts: string[]) => join(scratch.work, ...parts);
  const run = (script: string, flags: string[] = []) => runCordon(["run", ...flags, "--", "sh", "-c", script], around);
  const write = (path: string, text: string) => {
    mkdirSync(join(at(path), ".."), { recursive: true });
    writeFileSync(at(path), text);
  };
  const settings = (content: object) => write(".cordon/config.json", JSON.stringify(content, null, 1));
  const denied = (...deny: (string | object)[]) => settings({ permissions: { deny } });

  test("D2 a folder, names at any depth and a place of the home are hidden; what is beside them is read", async () => {
    write("secrets/deep/a", "HUSH\n");
    write("src/key.pem", "HUSH\n");
    write("src/lib/more.pem", "HUSH\n");
    write("src/open.txt", "open\n");
    mkdirSync(join(scratch.home, "private"), { recursive: true });
    writeFileSync(join(scratch.home, "private/b"), "HUSH\n");
    symlinkSync("../secrets/deep/a", at("src/link"));
    denied("Read(./secrets/**)", "Read(*.pem)", "Read(~/private)", "Bash(rm *)");
    const script = `cat secrets/deep/a src/key.pem src/lib/more.pem src/link ${join(scratch.home, "private/b")}; cat src/open.txt`;
    const closed = await run(script, [`--allow-read=${scratch.home}`]);
    expect([closed.stdout, closed.stderr.includes("HUSH")]).toEqual(["open\n", false]);
    denied("Bash(rm *)");
    const opened = await run(script, [`--allow-read=${scratch.home}`]);
    expect(opened.stdout).toBe(`${"HUSH\n".repeat(5)}open\n`);
  });

  test("D2 it is not carried to another name, by a move of a folder above it either; a new file of such a name is the command's own", async () => {
    denied("Read(./secrets/deep/a)", "Read(*.pem)");
    const script =
      "mv secrets s2; mv secrets/deep d2; mv src/key.pem k; ln src/key.pem h; cp src/key.pem c; cat s2/deep/a d2/a secrets/deep/a k h c; echo made > src/new.pem && cat src/new.pem";
    expect((await run(script)).stdout).toBe("made\n");
    expect(["s2", "d2", "k", "h"].filter((name) => existsSync(at(name)))).toEqual([]);
    expect(readFileSync(at("secrets/deep/a"), "utf8")).toBe("HUSH\n");
    expect((await run("cat src/new.pem")).stdout).toBe("");
    expect((await run("mv src/open.txt o && cat o && mv o src/open.txt")).stdout).toBe("open\n");
  });

  test("C14 what is carved out of a rule is read, and the rest of the folder is not", async () => {
    write("secrets/public/p", "open\n");
    write("secrets/b", "HUSH\n");
    denied({ rule: "Read(secrets/**)", except: ["Read(secrets/public/**)"] });
    expect((await run("cat secrets/b secrets/deep/a; cat secrets/public/p")).stdout).toBe("open\n");
    expect((await run("mv secrets/b secrets/public/b; cat secrets/public/b")).stdout).toBe("");
  });

  test("D2 commands of the bash tool and interpreters get no more, searches leave it out", async () => {
    denied("Read(./secrets/**)");
    const flags = ["--mode", "allow", "--allow", "Bash(python3 *)"];
    const python = (path: string) => ({ command: `python3 -c 'print(open("${path}").read())'` });
    const closed = await callTool("bash", python("secrets/b"), around, flags);
    expect(JSON.stringify(closed)).not.toContain("HUSH");
    expect(JSON.stringify(await callTool("bash", python("src/open.txt"), around, flags))).toContain("open");
    const found = await callTool("grep_search", { pattern: "HUSH|open" }, around);
    expect(found).toMatchObject({ ok: true });
    expect(JSON.stringify(found)).not.toContain("secrets");
    expect(JSON.stringify(found)).toContain("src/open.txt");
    const flagged = await callTool("bash", python("src/open.txt"), around, [...flags, "--deny", "Read(src/*.txt)"]);
    expect(JSON.stringify(flagged)).not.toContain("open\\n");
  });

  test("D10 in a workspace too large to be looked through the rule holds by name at every open, carve-outs too", async () => {
    for (let n = 0; n < 260; n++) mkdirSync(at(`many/d${n}`), { recursive: true });
    write("many/d259/x/deep.pem", "HUSH\n");
    write("many/d259/x/fine.txt", "open\n");
    write("many/d259/x/public.pem", "open\n");
    denied({ rule: "Read(*.pem)", except: ["Read(public.pem)"] });
    const script = "cd many/d259/x; cat deep.pem; mv deep.pem y; ln deep.pem z; cat y z; cat fine.txt public.pem";
    expect((await run(script)).stdout).toBe("open\nopen\n");
    denied("Bash(rm *)");
    expect((await run("cat many/d259/x/deep.pem")).stdout).toBe("HUSH\n");
    rmSync(at("many"), { recursive: true });
  });

  test("E2 a refusal names the setting or the rule with its place, and no flag that would not help", async () => {
    write("closed/c", "HUSH\n");
    write("src/key.pem", "HUSH\n");
    write("kept/k", "1\n");
    settings({
      permissions: { deny: ["Read(*.pem)"] },
      sandbox: { filesystem: { denyRead: ["closed"], denyWrite: ["kept"] } },
    });
    const tried = await run("echo x > closed/c; echo x > src/key.pem; echo x > kept/k; cat closed/c", [
      "--report=reads",
    ]);
    // Lines of the shell may stand before, without an end.
    const blocked = tried.stderr.match(/cordon: blocked .*/g) ?? [];
    const named = (path: string) => blocked.find((line) => line.includes(path)) ?? "";
    expect(named("closed/c")).toMatch(/sandbox\.denyRead of \.cordon\/config\.json:\d+:\d+/);
    expect(named("src/key.pem")).toMatch(/the deny rule Read\(\*\.pem\) of \.cordon\/config\.json:\d+:\d+/);
    expect(named("kept/k")).toMatch(/sandbox\.denyWrite of \.cordon\/config\.json:\d+:\d+/);
    expect(tried.stderr).not.toMatch(/--deny-(read|write)|--allow-/);
    const guessed = await run("cat closed/c");
    expect(guessed.stderr).not.toMatch(/--deny-read|--allow-read=[^P]/);
    const flagged = await run("echo x > kept/flag", ["--deny-write=kept/flag", "--deny-read=src/open.txt"]);
    expect(flagged.stderr).toContain("cordon: blocked");
  });

  test("D10 a rule that would close the workspace itself is told each time, and binds tools", async () => {
    denied("Read(**)");
    const told = await run("cat src/open.txt");
    expect(told).toMatchObject({ code: 0, stdout: "open\n" });
    expect(told.stderr).toMatch(/config\.json:\d+:\d+: the deny rule "Read\(\*\*\)" .*close the workspace/);
    expect(await callTool("read_file", { path: "src/open.txt" }, around)).toMatchObject({ ok: false });
    const lint = await runCordon(["policy", "lint"], around);
    expect([lint.code, lint.stdout.includes("rule.bound") || lint.stdout.includes("close the workspace")]).toEqual([
      1,
      true,
    ]);
    denied("Read(src/*.key)");
    expect((await run("cat src/open.txt")).stderr).toBe("");
    linkSync(at("src/open.txt"), at("src/other"));
  });
});
