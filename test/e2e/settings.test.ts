// C12, C13, D10: settings files, their layers and their trust, at the doors run, call, serve and doctor.
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { callTool } from "../support/call_tool.ts";
import { runCordon, runShell } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

let scratch: Scratch;
beforeEach(() => {
  scratch = makeScratch();
});
afterEach(() => removeScratch(scratch));

const USER = "home/.config/cordon/config.json";
const PROJECT = "work/.cordon/config.json";
const LOCAL = "work/.cordon/config.local.json";

function write(name: string, content: unknown): string {
  const path = join(scratch.top, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

const policy = (...args: string[]) => runCordon(["policy", ...args], { scratch });

test("C12 rules of the person's file hold at call, with their place; --deny and the mode of a flag stand above it", async () => {
  write(USER, '{\n  // builds are fine\n  "permissions": {"allow": ["Bash(install *)"]},\n}');
  const make = { command: "install /dev/null made" };
  expect(await callTool("bash", make, { scratch })).toMatchObject({ exit: 0, ok: true });
  const denied = await callTool("bash", make, { scratch }, ["--deny", "Bash(install *)"]);
  expect(denied).toMatchObject({ exit: 3, ok: false });
  write(USER, { permissions: { deny: ["Bash(install *)"] } });
  const closed = await callTool("bash", make, { scratch }, ["--allow", "Bash(install *)"]);
  expect(closed).toMatchObject({
    exit: 3,
    error: { message: expect.stringContaining(`${join(scratch.top, USER)}:1:25`) },
  });
});

test("C12 a hook that could refuse calls and is not run stops the doors of tools, until it is given up; run goes on", async () => {
  const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "exit 2" }] }] };
  write(USER, { hooks });
  const said = /config\.json:1:10: hooks of PreToolUse could refuse calls, and hooks are not run in this version/;
  const call = await callTool("bash", { command: "ls" }, { scratch });
  expect(call).toMatchObject({
    exit: 121,
    ok: false,
    error: {
      code: "config.invalid",
      message: expect.stringMatching(said),
      hint: expect.stringContaining("disableAllHooks"),
    },
  });
  const serve = await runCordon(["serve"], { scratch });
  expect([serve.code, JSON.parse(serve.stdout)]).toMatchObject([
    121,
    { type: "error", error: { code: "config.invalid" } },
  ]);
  expect((await runCordon(["grep", "x"], { scratch })).code).toBe(121);
  expect((await runCordon(["run", "--", "true"], { scratch })).code).toBe(0);
  const lint = await policy("lint");
  expect([lint.code, lint.stdout.includes("hooks")]).toEqual([1, true]);
  write(USER, { hooks, disableAllHooks: true });
  expect(await callTool("bash", { command: "ls" }, { scratch })).toMatchObject({ exit: 0, ok: true });
  // Those that decide nothing are told and stop nothing.
  write(USER, { hooks: { PostToolUse: [{}] } });
  const told = await runCordon(["call", "bash", '{"command":"ls"}'], { scratch });
  expect([told.code, told.stderr.includes('"hooks" are not run in this version')]).toEqual([0, true]);
});

test("C13 a file that can't be used stops run and serve with exit 121, and call answers config.invalid", async () => {
  write(PROJECT, '{"permissions": {\n  "alow": []}}');
  const place = '.cordon/config.json:2:3: there is no key "permissions.alow"';
  const run = await runCordon(["run", "--", "true"], { scratch });
  expect(run).toMatchObject({ code: 121, stdout: "" });
  expect(run.stderr).toContain(place);
  expect(run.stderr).toContain('did you mean "allow"?');
  const call = await callTool("bash", { command: "ls" }, { scratch });
  expect(call).toMatchObject({ exit: 121, ok: false, error: { code: "config.invalid", message: place } });
  const serve = await runCordon(["serve"], { scratch });
  expect(serve.code).toBe(121);
  expect(JSON.parse(serve.stdout)).toMatchObject({ type: "error", error: { code: "config.invalid", message: place } });
  write(PROJECT, "{}");
  expect((await runCordon(["run", "--", "true"], { scratch })).code).toBe(0);
});

test("D10 a file that others can write, a link out of its folder and a pipe stop the start; the same file closed does not", async () => {
  const path = write(PROJECT, "{}");
  chmodSync(path, 0o666);
  expect((await runCordon(["run", "--", "true"], { scratch })).stderr).toContain("can be written by others");
  chmodSync(path, 0o644);
  expect((await runCordon(["run", "--", "true"], { scratch })).code).toBe(0);
  rmSync(path);
  symlinkSync(write("home/other.json", "{}"), path);
  expect(await runCordon(["run", "--", "true"], { scratch })).toMatchObject({ code: 121 });
  rmSync(path);
  expect(Bun.spawnSync(["mkfifo", path]).success).toBe(true);
  expect((await runCordon(["run", "--", "true"], { scratch })).stderr).toContain("a pipe");
});

test("C12 a project only tightens until the person trusts it, and again when a file changes; each time it is said", async () => {
  write(PROJECT, { permissions: { allow: ["Bash(install *)"], deny: ["Bash(wc *)"] } });
  const make = { command: "install /dev/null made" };
  const asked = await runCordon(["call", "bash", JSON.stringify(make)], { scratch });
  expect(JSON.parse(asked.stdout)).toMatchObject({ ok: false, error: { code: "policy.needs_answer" } });
  expect(asked.stderr).toContain('.cordon/config.json:1:26: the allow rule "Bash(install *)" is not in force');
  expect(await callTool("bash", { command: "wc -l x" }, { scratch })).toMatchObject({ exit: 3 });
  const trusted = await policy("trust");
  expect(trusted).toMatchObject({ code: 0, stderr: "" });
  expect(trusted.stdout).toContain('the allow rule "Bash(install *)"');
  expect(await callTool("bash", make, { scratch })).toMatchObject({ exit: 0 });
  write(LOCAL, {});
  const changed = await runCordon(["call", "bash", JSON.stringify(make)], { scratch });
  expect(changed.code).toBe(3);
  expect(changed.stderr).toContain("changed since you trusted them");
  expect((await policy("trust")).code).toBe(0);
  expect(await callTool("bash", make, { scratch })).toMatchObject({ exit: 0 });
  expect((await policy("trust", "--revoke")).code).toBe(0);
  expect(await callTool("bash", make, { scratch })).toMatchObject({ exit: 3 });
});

test("C12 trust in one folder is none in another, and nothing to trust is said", async () => {
  expect(await policy("trust")).toMatchObject({ code: 121, stderr: expect.stringContaining("nothing to trust") });
  write(PROJECT, { permissions: { allow: ["Bash(install *)"] } });
  expect((await policy("trust")).code).toBe(0);
  write("work/inner/.cordon/config.json", readFileSync(join(scratch.top, PROJECT), "utf8"));
  const make = JSON.stringify({ command: "install /dev/null made" });
  const cwd = join(scratch.work, "inner");
  expect((await runCordon(["call", "bash", make], { scratch, cwd })).code).toBe(3);
});

test("C12 the sandbox block of the person holds at run and at call; a profile is put on top by its name", async () => {
  write("work/private/key", "secret");
  write("opt/x", "");
  const opt = join(scratch.top, "opt");
  write(USER, {
    sandbox: { denyRead: ["private"], allowEnv: ["MINE"], limits: { pids: 64 } },
    profiles: { opt: { allowWrite: [opt] } },
  });
  const script = `cat private/key; echo "got $MINE"; touch ${opt}/made`;
  const around = { scratch, env: { MINE: "value" } };
  const plain = await runShell(script, around);
  expect(plain.stdout).toBe("got value\n");
  expect(existsSync(join(opt, "made"))).toBe(false);
  expect((await runShell(script, around, ["--profile", "opt"])).stdout).toBe("got value\n");
  expect(existsSync(join(opt, "made"))).toBe(true);
  expect(await runShell("true", around, ["--profile", "nothing"])).toMatchObject({
    code: 121,
    stderr: expect.stringContaining("profiles: opt"),
  });
  const read = await callTool("read_file", { path: "private/key" }, { scratch });
  expect(read).toMatchObject({ exit: 3, error: { code: "policy.denied" } });
  rmSync(join(scratch.top, USER));
  expect((await runShell(script, around)).stdout).toBe("secretgot \n");
});

test("C12 host lists are refused with the reason, as those of flags are; true opens the network for the person's file", async () => {
  write(USER, { sandbox: { network: { allowedDomains: ["example.com"] } } });
  const listed = await runCordon(["run", "--", "true"], { scratch });
  expect(listed).toMatchObject({
    code: 121,
    stderr: expect.stringContaining("host lists come with the network proxy"),
  });
  const network = async (value: unknown) => {
    write(USER, { sandbox: { network: value } });
    const { stdout } = await runCordon(["run", "--explain", "--json", "--", "true"], { scratch });
    return stdout.includes('"net.blocked": "must"');
  };
  expect([await network(false), await network(true)]).toEqual([true, false]);
});

test("C12 a file that appears, changes or vanishes ends the plan that was remembered", async () => {
  write("work/data", "data");
  const read = () => runCordon(["run", "--", "cat", "data"], { scratch });
  for (const _ of [1, 2]) expect((await read()).code).toBe(0);
  const path = write(PROJECT, { sandbox: { denyRead: ["data"] } });
  for (const _ of [1, 2]) expect((await read()).code).toBe(1);
  // A file as young as that is read anew each time; older, it is remembered and its change is seen all the same.
  await Bun.sleep(80);
  for (const _ of [1, 2]) expect((await read()).code).toBe(1);
  writeFileSync(path, JSON.stringify({ sandbox: { denyRead: ["date"] } }));
  for (const _ of [1, 2]) expect((await read()).code).toBe(0);
  write(USER, { sandbox: { denyRead: ["data"] } });
  expect((await read()).code).toBe(1);
  rmSync(join(scratch.top, USER));
  expect((await read()).code).toBe(0);
  expect(readdirSync(join(scratch.state, "plans")).length).toBeGreaterThan(0);
});

test("D10 no command writes the project's or the person's settings or the trust, even where trusted files are open", async () => {
  write(USER, { permissions: {} });
  const user = dirname(join(scratch.top, USER));
  const script = `mkdir .cordon; echo '{}' > .cordon/config.json; echo '{}' > ${user}/config.json; echo '{}' > ${scratch.state}/trust.json; echo x > other; true`;
  for (const flags of [[], ["--trust-files=allow"]]) {
    expect((await runShell(script, { scratch }, flags)).code).toBe(0);
    expect(existsSync(join(scratch.work, ".cordon/config.json"))).toBe(false);
    expect(readFileSync(join(scratch.top, USER), "utf8")).toBe('{"permissions":{}}');
    expect(existsSync(join(scratch.state, "trust.json"))).toBe(false);
    expect(existsSync(join(scratch.work, "other"))).toBe(true);
  }
  const edit = await callTool("write_file", { path: ".cordon/config.json", content: "{}" }, { scratch }, [
    "--mode=allow",
  ]);
  expect(edit).toMatchObject({ exit: 3, ok: false });
  const xdg = join(scratch.top, "xdg");
  write("xdg/cordon/config.json", {});
  const env = { XDG_CONFIG_HOME: xdg };
  const file = join(xdg, "cordon/config.json");
  expect((await runShell(`echo x > ${file}`, { scratch, env }, [`--allow-write=${xdg}`])).code).not.toBe(0);
  expect(await callTool("write_file", { path: file, content: "{}" }, { scratch, env }, ["--mode=allow"])).toMatchObject(
    { exit: 3 },
  );
  expect(readFileSync(file, "utf8")).toBe("{}");
});

test("A7 the mode of a file holds, a flag stands above it, and doctor names every file with its state", async () => {
  write(USER, { mode: "read-only" });
  const call = { path: "w", content: "x" };
  expect(await callTool("write_file", call, { scratch })).toMatchObject({ exit: 3 });
  expect(await callTool("write_file", call, { scratch }, ["--mode=workspace-write"])).toMatchObject({ exit: 0 });
  write(PROJECT, { mode: "allow" });
  const report = JSON.parse((await runCordon(["doctor", "--json"], { scratch })).stdout);
  expect(report.settings).toMatchObject({ workspaceTrust: "untrusted", mode: { mode: "read-only" } });
  expect(report.settings.files).toMatchObject([
    { layer: "user", state: "in force" },
    { layer: "project", state: "untrusted" },
    { layer: "local", state: "absent" },
    { layer: "managed" },
  ]);
  expect((await runCordon(["doctor"], { scratch })).stdout).toContain(
    `project  untrusted ${join(scratch.top, PROJECT)}`,
  );
});

/** The managed file has one place. Where namespaces can be had, a test may lay one there that nobody else sees. */
const canOverlay = Bun.spawnSync(["unshare", "-rm", "sh", "-c", "mount -t tmpfs none /etc"]).success;

test.skipIf(!canOverlay)(
  "A7 the managed file can't be loosened by flags: neither its rules nor its mode nor its network",
  async () => {
    const managed = write("managed.json", {
      mode: "workspace-write",
      locked: true,
      permissions: { deny: ["Bash(wc *)"] },
      sandbox: { network: "blocked" },
    });
    const lay = `mkdir /tmp/etc.$$ && mount --rbind /etc /tmp/etc.$$ && mount -t tmpfs none /etc && cp -a /tmp/etc.$$/passwd /tmp/etc.$$/group /tmp/etc.$$/ld.so.cache /etc/; mkdir /etc/cordon && cp ${managed} /etc/cordon/config.json && chmod 644 /etc/cordon/config.json && umount -l /tmp/etc.$$; rmdir /tmp/etc.$$; exec "$@"`;
    const around = { scratch, wrap: (argv: string[]) => ["unshare", "-rm", "sh", "-c", lay, "sh", ...argv] };
    const held = (args: string[]) => runCordon(args, around);
    expect((await held(["policy", "check", "--allow", "Bash(wc *)", "wc -l x"])).code).toBe(3);
    expect(await held(["policy", "check", "--mode=allow", "ls"])).toMatchObject({
      code: 121,
      stderr: expect.stringContaining("/etc/cordon/config.json:1:9 sets workspace-write as the most"),
    });
    expect((await held(["policy", "check", "--mode=read-only", "ls"])).code).toBe(0);
    expect(await held(["run", "--allow-net", "--explain", "--", "true"])).toMatchObject({
      code: 121,
      stderr: expect.stringContaining("no flag loosens the managed file"),
    });
  },
);
