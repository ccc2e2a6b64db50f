// The flags that the broker's rules come from, on the executable and in both tiers.
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeEachTier } from "../support/each_tier.ts";
import { missingPrograms, runCordon, runShell } from "../support/run_cordon.ts";

const NAMES = ["my file (1)", "line\nbreak", "[x]", "a*b", "q?", "{a}", "ünï", "quote'd", "back\\slash", "-dash"];

/** A comma would end the value; a backslash before it would take its meaning. */
const value = (path: string) => path.replaceAll(",", "\\,");

describeEachTier(({ scratch, around, tier }) => {
  const at = (...parts: string[]) => join(scratch.work, ...parts);
  const put = (path: string, text = "old") => {
    mkdirSync(join(at(path), ".."), { recursive: true });
    writeFileSync(at(path), text);
  };
  const write = (path: string, flags: string[] = []) =>
    runCordon(
      ["run", ...flags, "--", "sh", "-c", 'mkdir -p "$(dirname -- "$1")" && echo new > "$1"', "sh", at(path)],
      around,
    );
  const read = (path: string, flags: string[] = []) => runCordon(["run", ...flags, "--", "cat", at(path)], around);

  test.each(NAMES)("A15 --deny-write and --deny-read mean a file named %j itself", async (name) => {
    for (const path of [name, `other ${name} too`]) put(path);
    expect((await write(name, [`--deny-write=${value(at(name))}`])).code).not.toBe(0);
    expect(readFileSync(at(name), "utf8")).toBe("old");
    expect((await write(`other ${name} too`, [`--deny-write=${value(at(name))}`])).code).toBe(0);
    expect((await read(name, [`--deny-read=${value(at(name))}`])).stdout).toBe("");
    expect((await read(name)).stdout).toBe("old");
    for (const path of [name, `other ${name} too`]) rmSync(at(path));
  });

  test("A15 a pattern holds for what is there and for what is made later, at any depth", async () => {
    put("keys/old.pem", "secret");
    const denied = await read("keys/old.pem", ["--deny-read=**/*.{pem,key}"]);
    expect([denied.stdout, denied.code === 0]).toEqual(["", false]);
    expect((await read("keys/old.pem")).stdout).toBe("secret");
    for (const path of ["new/deep/a.lock", "b.lock"]) {
      const { code, stderr } = await write(path, ["--deny-write=**/*.lock"]);
      expect([code === 0, existsSync(at(path))]).toEqual([false, false]);
      expect(stderr).toContain(`cordon: blocked write ${at(path)} (--deny-write)`);
    }
    expect((await write("new/deep/a.txt", ["--deny-write=**/*.lock"])).code).toBe(0);
  });

  test("A15 what a pattern closes can't be carried to another name, and another file can", async () => {
    put("keys/one.pem", "secret");
    put("keys/plain", "open");
    const flags = ["--deny-read=**/*.pem"];
    for (const act of ["mv keys/one.pem keys/x", "ln keys/one.pem keys/x", "mv keys moved"])
      expect([act, (await runShell(`${act}; cat keys/x moved/one.pem`, around, flags)).stdout]).toEqual([act, ""]);
    expect(readFileSync(at("keys/one.pem"), "utf8")).toBe("secret");
    expect((await runShell("mv keys/plain keys/y && cat keys/y", around, flags)).stdout).toBe("open");
  });

  test("A15 a pattern that is allowed opens its folder for what it names and nothing else", async () => {
    const outside = join(scratch.top, "outside");
    mkdirSync(outside, { recursive: true });
    const flags = [`--allow-write=${outside}/*.log`];
    const written = (name: string) =>
      runCordon(["run", ...flags, "--", "sh", "-c", `echo x > ${outside}/${name}`], around);
    expect((await written("a.log")).code).toBe(0);
    expect((await written("a.txt")).code).not.toBe(0);
    expect([existsSync(join(outside, "a.log")), existsSync(join(outside, "a.txt"))]).toEqual([true, false]);
    expect((await runShell(`echo x > ${outside}/b.log`, around)).code).not.toBe(0);
  });

  test("E5 a trusted file is refused at any depth; its own name opens it, there or not", async () => {
    mkdirSync(at("a/.github"), { recursive: true });
    for (const path of [".envrc", "a/b/.npmrc", "a/.github/workflows"]) {
      const { code, stderr } = await write(path);
      expect([path, code === 0, existsSync(at(path))]).toEqual([path, false, false]);
      expect(stderr).toContain(`allow with --allow-write=${at(path)}`);
      const allowed = await write(path, [`--allow-write=${at(path)}`]);
      expect([path, allowed.code, existsSync(at(path))]).toEqual([path, 0, true]);
      rmSync(at(path));
    }
    expect((await write("Makefile")).code).toBe(0);
    expect((await write("node_modules/x/.npmrc")).code).toBe(0);
  });

  test("E5 --trust-files=report lets them be changed and lists each once, also as events; allow is silent", async () => {
    const events = join(scratch.top, "events");
    const script = "echo a > .envrc; echo b > .envrc; echo c > Makefile; echo d > main.c";
    const report = await runShell(script, around, ["--trust-files=report", `--events=${events}`]);
    expect(report.code).toBe(0);
    const lines = report.stderr.split("\n").filter((line) => line.includes(scratch.work));
    expect(lines.map((line) => line.trim().split(" ")[0]).sort()).toEqual([at(".envrc"), at("Makefile")]);
    expect(report.stderr).toContain("cordon: changed files that tools outside the sandbox obey:");
    const told = readFileSync(events, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(told.map(({ op, path }) => [op, path]).sort()).toEqual([
      ["trusted", at(".envrc")],
      ["trusted", at("Makefile")],
    ]);
    const allow = await runShell(script, around, ["--trust-files=allow"]);
    expect([allow.code, allow.stderr]).toEqual([0, ""]);
    rmSync(at(".envrc"));
  });

  test("A25 --report=reads tells of a denied read exactly, and without it there is a guess that says so", async () => {
    put(".env", "KEY=1");
    const exact = await read(".env", ["--report=reads"]);
    expect([exact.stdout, exact.code === 0]).toEqual(["", false]);
    expect(exact.stderr).toContain(`cordon: blocked read ${at(".env")}`);
    expect(exact.stderr).not.toContain("guess");
    expect((await read(".env", [`--allow-read=${at(".env")}`])).stdout).toBe("KEY=1");
    rmSync(at(".env"));
  });

  const missing = missingPrograms(["python3"]);
  test.skipIf(missing.length > 0)(
    `E5 a socket of the host is reached by --allow-unix alone${missing.length > 0 ? `: ${missing} missing` : ""}`,
    async () => {
      const path = join(scratch.top, "agent.sock");
      let met = 0;
      const server = Bun.listen({ unix: path, socket: { open: () => void met++, data: () => {} } });
      try {
        const dial = `import socket; socket.socket(socket.AF_UNIX).connect("${path}")`;
        const dialled = (flags: string[]) => runCordon(["run", ...flags, "--", "python3", "-c", dial], around);
        expect((await dialled([])).code).not.toBe(0);
        expect(met).toBe(0);
        // Without a view no unix socket can be made at all yet (sandbox-native/linux/src/broker/sockets.rs).
        const allowed = await dialled([`--allow-unix=${path}`]);
        if (tier === "namespaces") expect([allowed.code, allowed.stderr, met]).toEqual([0, "", 1]);
      } finally {
        server.stop(true);
      }
      const gone = await runCordon(["run", `--allow-unix=${path}.gone`, "--", "true"], around);
      expect([gone.code, gone.stderr.includes("there is no such file")]).toEqual([121, true]);
      const plain = await runCordon(["run", `--allow-unix=${scratch.work}`, "--", "true"], around);
      expect([plain.code, plain.stderr.includes("is no socket")]).toEqual([121, true]);
    },
  );

  test("F5 --explain prints the rules for a person and as JSON", async () => {
    const text = await runCordon(["run", "--deny-write=**/*.lock", "--explain", "--", "true"], around);
    expect(text.stdout).toContain(`${scratch.work}/**/*.lock`);
    expect(text.stdout).toContain("to change: refused (--deny-write)");
    const json = await runCordon(["run", "--explain", "--json", "--", "true"], around);
    const plan = JSON.parse(json.stdout);
    expect(plan.sandbox.ops.map(({ op }: { op: string }) => op)).toContain("broker");
  });
});
