import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "bun:test";
import { spawnSync } from "bun";
import { tempFolder, type TempFolder } from "../../testing/temp_folder.ts";
import type { Settings } from "../../contract/settings.ts";
import { modeOf, type World } from "../world.ts";
import { loadSettings } from "./load.ts";
import { readTrust, TRUST_FILE } from "./trust.ts";

const uid = process.geteuid?.() ?? -1;

function worldOf(folder: TempFolder, env: Record<string, string> = {}): World {
  const gid = process.getegid?.() ?? -1;
  const cwd = folder.at("work");
  return { argv: [], program: "/bin/cordon", env, cwd, pid: 1, platform: "linux", uid, gid, stdinIsTty: false };
}

function folderWith(files: Record<string, unknown>): TempFolder {
  const folder = tempFolder({ "work/": "", "home/": "", "state/": "" });
  for (const [name, content] of Object.entries(files)) {
    const path = folder.at(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

type Options = { env?: Record<string, string>; profile?: string };

function load(folder: TempFolder, { env, profile }: Options = {}): Promise<Settings> {
  const place = { cwd: folder.at("work"), home: folder.at("home"), workspace: folder.at("work") };
  return loadSettings({
    world: worldOf(folder, env),
    place,
    stateFolder: folder.at("state"),
    managed: folder.at("managed.json"),
    profile,
  });
}

async function trust(folder: TempFolder): Promise<void> {
  const { digest } = await load(folder);
  const book = { version: 1, workspaces: { [folder.at("work")]: { digest, at: 1 } } };
  writeFileSync(folder.at("state", TRUST_FILE), JSON.stringify(book), { mode: 0o600 });
  chmodSync(folder.at("state"), 0o700);
}

const USER = "home/.config/cordon/config.json";
const PROJECT = "work/.cordon/config.json";
const LOCAL = "work/.cordon/config.local.json";
const refused = (text: string) =>
  expect.objectContaining({ code: "config.invalid", message: expect.stringContaining(text) });

test("C12 without files there is nothing; with them lists add up and each rule says where it stands", async () => {
  using none = folderWith({});
  expect(await load(none)).toMatchObject({
    rules: { allow: [], ask: [], deny: [] },
    workspaceTrust: "nothing to trust",
  });
  using folder = folderWith({
    [USER]: '// mine\n{"permissions": {\n  "allow": ["Bash(make *)",],\n}}',
    [PROJECT]: { permissions: { deny: ["Bash(rm *)"], ask: [{ rule: "Bash(git push *)", reason: "shared" }] } },
    "managed.json": { permissions: { deny: ["WebFetch"] } },
  });
  const { rules, files } = await load(folder);
  expect(rules.allow).toEqual([{ rule: "Bash(make *)", layer: "user", origin: `${folder.at(USER)}:3:13` }]);
  expect(rules.ask).toMatchObject([{ layer: "project", origin: ".cordon/config.json:1:46", reason: "shared" }]);
  expect(rules.deny.map(({ rule, layer }) => [rule, layer])).toEqual([
    ["Bash(rm *)", "project"],
    ["WebFetch", "managed"],
  ]);
  expect(files.map(({ state }) => state)).toEqual(["in force", "untrusted", "absent", "in force"]);
});

test("C12 XDG_CONFIG_HOME leads to the person's file when it is absolute, and is passed over when not", async () => {
  using folder = folderWith({ "xdg/cordon/config.json": { mode: "prompt" }, [USER]: { mode: "read-only" } });
  expect((await load(folder, { env: { XDG_CONFIG_HOME: folder.at("xdg") } })).mode?.mode).toBe("prompt");
  expect((await load(folder, { env: { XDG_CONFIG_HOME: "xdg" } })).mode?.mode).toBe("read-only");
});

test("C13 what does not parse or fit stops with file, line, column and the nearest right thing", async () => {
  const cases: [string, string, string][] = [
    ["{", 'a "}" is missing', ":1:2: "],
    ['{"mode": "prompt" "sandbox": {}}', 'a "," is missing', ":1:19: "],
    ["", "a value is missing", ":1:1: "],
    ['{"permisions": {}}', "there is no key", ":1:2: "],
    ['{"permissions": {\n "alow": []}}', 'there is no key "permissions.alow"', ":2:2: "],
    ['{"permissions": {"deny": "WebFetch"}}', '"permissions.deny" is "WebFetch"', ":1:26: "],
    ['{"permissions": {"deny": [5]}}', '"permissions.deny[0]" is 5', ":1:27: "],
    ['{"permissions": {"deny": [], "deny": []}}', "stands twice", ":1:30: "],
    ['{"permissions": {"allow": [{"rule": "Bash", "except": []}]}}', "stands on an allow rule", ":1:55: "],
    ['{"mode": "promt"}', "no permission mode has this name", ":1:10: "],
    ['{"mode": "prompt", "permissions": {"defaultMode": "read-only"}}', "says read-only", ":1:51: "],
    [
      '{"sandbox": {"network": {"allowedDomains": ["example.com"]}}}',
      "host lists come with the network proxy",
      ":1:44: ",
    ],
    ['{"sandbox": {"limits": {"memory": "lots"}}}', '"sandbox.limits.memory" is "lots"', ":1:35: "],
    ['{"sandbox": {"require": ["net.bloked"]}}', "net.bloked", ":1:26: "],
    ['{"sandbox": {"allowWrite": ["~bob/x"]}}', "~bob", ":1:29: "],
    ['{"locked": true, "mode": "prompt"}', "managed file only", ":1:12: "],
    ["[]", "the file is []", ":1:1: "],
    [`${'{"a":'.repeat(40)}1${"}".repeat(40)}`, "nested deeper", ":1:"],
  ];
  for (const [text, found, place] of cases) {
    using folder = folderWith({ [USER]: text });
    const failed = await load(folder).then(
      () => null,
      (error: Error) => error.message,
    );
    expect(failed).toContain(found);
    expect(failed).toStartWith(`${folder.at(USER)}${place}`);
  }
});

test("C13 names that are nearly right are suggested", async () => {
  using folder = folderWith({ [USER]: { permisions: {} } });
  expect(load(folder)).rejects.toEqual(expect.objectContaining({ hint: 'did you mean "permissions"?' }));
  using other = folderWith({ [USER]: { sandbox: { require: ["net.bloked"] } } });
  expect(other.root && load(other)).rejects.toEqual(expect.objectContaining({ hint: 'did you mean "net.blocked"?' }));
});

test("D10 a file that others could write, or that is no plain file of its folder, stops the start; the person's own does not", async () => {
  using fine = folderWith({ [PROJECT]: { mode: "read-only" } });
  expect((await load(fine)).mode?.mode).toBe("read-only");
  using open = folderWith({ [PROJECT]: {} });
  chmodSync(open.at(PROJECT), 0o666);
  expect(load(open)).rejects.toEqual(refused("it can be written by others (mode 666)"));
  using folderOpen = folderWith({ [PROJECT]: {} });
  chmodSync(folderOpen.at("work/.cordon"), 0o777);
  expect(load(folderOpen)).rejects.toEqual(refused("its folder can be written by others"));
  using link = folderWith({ "elsewhere.json": {} });
  mkdirSync(link.at("work/.cordon"), { recursive: true });
  symlinkSync(link.at("elsewhere.json"), link.at(LOCAL));
  expect(load(link)).rejects.toEqual(refused("is a link that leads to"));
  using linked = folderWith({ "other/config.json": {} });
  symlinkSync(linked.at("other"), linked.at("work/.cordon"));
  expect(load(linked)).rejects.toEqual(refused("is a link that leads to"));
  using large = folderWith({ [USER]: `{}${" ".repeat(1 << 20)}` });
  expect(load(large)).rejects.toEqual(refused("it has more than"));
  using pipe = folderWith({ "work/.cordon/x": "" });
  expect(spawnSync(["mkfifo", pipe.at(PROJECT)]).success).toBe(true);
  expect(load(pipe)).rejects.toEqual(refused("it is a folder, a pipe, a device or a socket"));
});

test("C12 an untrusted project only tightens, and what waits is told; trust lets it loosen until a file changes", async () => {
  using folder = folderWith({
    [PROJECT]: {
      mode: "allow",
      permissions: { allow: ["Bash"], deny: ["WebFetch"], additionalDirectories: [".."] },
      sandbox: { allowWrite: ["/opt"], denyRead: ["private"], network: true, trustFiles: "allow", limits: { pids: 9 } },
    },
    [LOCAL]: { permissions: { allow: ["Edit"] } },
  });
  const before = await load(folder);
  expect(before.workspaceTrust).toBe("untrusted");
  expect(before.rules.allow).toEqual([]);
  expect(before.mode).toBeUndefined();
  expect(before.roots).toEqual([]);
  expect(before.sandbox.map(({ field }) => field)).toEqual(["denyRead", "processes"]);
  expect(before.rules.deny.map(({ rule }) => rule)).toContain("WebFetch");
  expect(before.notices.filter(({ kind }) => kind === "untrusted")).toHaveLength(7);
  await trust(folder);
  const after = await load(folder);
  expect(after).toMatchObject({
    workspaceTrust: "trusted",
    mode: { mode: "allow" },
    roots: [folder.root],
    notices: [],
    hooks: [],
  });
  expect(after.rules.allow.map(({ rule }) => rule)).toEqual(["Bash", "Edit"]);
  writeFileSync(folder.at(LOCAL), "{} ");
  expect(await load(folder)).toMatchObject({ workspaceTrust: "changed", rules: { allow: [] } });
});

test("C12 hooks that could refuse a call are told apart from others, and count where they would be run", async () => {
  const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "./check" }] }], Stop: [{}] };
  const wanted = async (files: Record<string, unknown>) => {
    using folder = folderWith(files);
    return (await load(folder)).hooks.map(({ events }) => events.join());
  };
  expect(await wanted({ [USER]: { hooks } })).toEqual(["PreToolUse"]);
  expect(await wanted({ [USER]: { hooks: { ...hooks, PermissionRequest: [{}] } } })).toEqual([
    "PreToolUse,PermissionRequest",
  ]);
  expect(await wanted({ [USER]: { hooks: { PostToolUse: [{}], PreToolUse: [] } } })).toEqual([]);
  expect(await wanted({ [USER]: { hooks, disableAllHooks: true } })).toEqual([]);
  expect(await wanted({ [USER]: { hooks, disableAllHooks: false } })).toEqual(["PreToolUse"]);
  // A project's are not run before it is trusted, and can't switch those of others off.
  expect(await wanted({ [PROJECT]: { hooks } })).toEqual([]);
  expect(await wanted({ [USER]: { hooks }, [PROJECT]: { disableAllHooks: true } })).toEqual(["PreToolUse"]);
});

test("C12 a project's stricter mode holds untrusted, a looser limit does not", async () => {
  using folder = folderWith({
    [USER]: { mode: "danger-full-access", sandbox: { limits: { pids: 100 } } },
    [PROJECT]: { mode: "prompt", sandbox: { limits: { pids: 200 } } },
    [LOCAL]: { sandbox: { limits: { pids: 50 } } },
  });
  const { mode, sandbox } = await load(folder);
  expect(mode?.mode).toBe("prompt");
  expect(sandbox.map(({ value }) => value)).toEqual([100, 50]);
});

test("D10 trust that somebody else could have written is none", async () => {
  using folder = folderWith({ [PROJECT]: { permissions: { allow: ["Bash"] } } });
  await trust(folder);
  expect(Object.keys(readTrust(folder.at("state"), uid))).toHaveLength(1);
  chmodSync(folder.at("state", TRUST_FILE), 0o666);
  expect(readTrust(folder.at("state"), uid)).toEqual({});
  expect((await load(folder)).workspaceTrust).toBe("untrusted");
});

test("A7 a locked managed mode is the most for files, the variable and flags; without the lock it is a default", async () => {
  using folder = folderWith({ [USER]: { mode: "allow" }, "managed.json": { mode: "workspace-write", locked: true } });
  const settings = await load(folder);
  expect(settings).toMatchObject({ mode: { mode: "workspace-write" }, notices: [{ kind: "held", about: "mode" }] });
  const world = worldOf(folder);
  expect(() => modeOf(world, { mode: "allow", origin: "--mode" }, settings)).toThrow(
    expect.objectContaining({ code: "config.invalid" }),
  );
  expect(modeOf(world, { mode: "read-only", origin: "--mode" }, settings).mode).toBe("read-only");
  using free = folderWith({ "managed.json": { mode: "prompt" } });
  const unlocked = await load(free);
  expect(modeOf(world, undefined, unlocked).mode).toBe("prompt");
  expect(modeOf(world, { mode: "allow", origin: "--mode" }, unlocked).mode).toBe("allow");
});

test("A7 disableBypassPermissionsMode closes the modes that never ask", async () => {
  using folder = folderWith({ [USER]: { permissions: { disableBypassPermissionsMode: "disable" } } });
  const settings = await load(folder);
  for (const mode of ["allow", "danger-full-access"] as const)
    expect(() => modeOf(worldOf(folder), { mode, origin: "--mode" }, settings)).toThrow("as the most");
  expect(modeOf(worldOf(folder), { mode: "prompt", origin: "--mode" }, settings).mode).toBe("prompt");
});

test("C12 a profile is put on top of the others; one that nobody defines is refused with those that there are", async () => {
  using folder = folderWith({ [USER]: { sandbox: { denyRead: ["a"] }, profiles: { ci: { network: true } } } });
  expect((await load(folder, { profile: "ci" })).sandbox.map(({ field }) => field)).toEqual(["denyRead", "network"]);
  expect((await load(folder)).sandbox.map(({ field }) => field)).toEqual(["denyRead"]);
  expect(load(folder, { profile: "cd" })).rejects.toEqual(expect.objectContaining({ hint: "profiles: ci" }));
});

test("C12 Claude Code's blocks are read as they are, and its own files where the person includes them", async () => {
  const block = {
    permissions: { allow: ["Bash(npm run *)"], deny: ["Read(./.env)"], defaultMode: "plan" },
    hooks: { PreToolUse: [] },
    sandbox: { enabled: true, filesystem: { denyRead: ["~/private"] }, network: { allowUnixSockets: ["/run/x"] } },
  };
  using own = folderWith({ [USER]: { ...block, model: "x" } });
  const read = await load(own);
  expect(read).toMatchObject({ mode: { mode: "read-only" }, sandbox: [{ field: "denyRead" }, { field: "allowUnix" }] });
  expect(read.notices.map(({ text }) => text)).toEqual([
    '"sandbox.enabled (the sandbox is always on)" is not used',
    '"model" is not used',
    '"hooks" are not run in this version',
  ]);
  const theirs = { ...block, statusLine: { type: "command" }, unheardOf: 1 };
  using without = folderWith({ "home/.claude/settings.json": theirs });
  expect((await load(without)).rules.allow).toEqual([]);
  using included = folderWith({ "home/.claude/settings.json": theirs, [USER]: { include: ["claude-code"] } });
  expect((await load(included)).rules.allow).toMatchObject([{ layer: "user", rule: "Bash(npm run *)" }]);
  using project = folderWith({ "home/.claude/settings.json": theirs, [PROJECT]: { include: ["claude-code"] } });
  expect((await load(project)).rules.allow).toEqual([]);
});

test("C12 allowManagedPermissionRulesOnly closes the allow rules of every other file", async () => {
  using folder = folderWith({
    [USER]: { permissions: { allow: ["Bash"], deny: ["WebFetch"] } },
    "managed.json": { allowManagedPermissionRulesOnly: true, permissions: { allow: ["Bash(ls *)"] } },
  });
  const { rules, managedOnly, notices } = await load(folder);
  expect(rules).toMatchObject({ allow: [{ rule: "Bash(ls *)" }], deny: [{ rule: "WebFetch" }] });
  expect([managedOnly, notices.length]).toEqual([true, 1]);
});
