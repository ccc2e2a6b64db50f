import { expect, test } from "bun:test";
import { tempFolder } from "../testing/temp_folder.ts";
import { modeOf, parseMode, placeOf, stateFolderOf, type World } from "./world.ts";

const worldOf = (env: Record<string, string>, cwd = "/"): World => ({
  argv: [],
  program: "/bin/cordon",
  env,
  cwd,
  pid: 1,
  platform: "linux",
  uid: 1000,
  gid: 1000,
  stdinIsTty: false,
});
const invalid = expect.objectContaining({ code: "config.invalid" });

test("A26 a mode is read in any case and with its other spellings", () => {
  expect(
    ["read-only", "ReadOnly", " plan ", "workspace-write", "danger-full-access", "prompt", "allow"].map(
      (text) => parseMode(text, "a flag").mode,
    ),
  ).toEqual(["read-only", "read-only", "read-only", "workspace-write", "danger-full-access", "prompt", "allow"]);
});

test("A26 a misspelt mode is refused and says where it stood; names that every object has are no modes", () => {
  for (const text of ["", "readonl", "full", "constructor", "__proto__", "tostring", "valueof"])
    expect(() => parseMode(text, "a flag")).toThrow(invalid);
  expect(() => parseMode("readonl", "CORDON_PERMISSION_MODE")).toThrow("CORDON_PERMISSION_MODE");
});

test("A26 a flag beats the environment, which beats the default", () => {
  const env = { CORDON_PERMISSION_MODE: "prompt" };
  expect(modeOf(worldOf(env), { mode: "allow", origin: "a flag" }).mode).toBe("allow");
  expect(modeOf(worldOf(env), undefined)).toEqual({ mode: "prompt", origin: "CORDON_PERMISSION_MODE" });
  expect(modeOf(worldOf({}), undefined).mode).toBe("workspace-write");
  expect(() => modeOf(worldOf({ CORDON_PERMISSION_MODE: "yolo" }), undefined)).toThrow(invalid);
});

test("the working folder is the workspace, both folders are real, and one that is gone is refused", () => {
  using folder = tempFolder({ "home/": "", "app/": "" });
  expect(placeOf(worldOf({ HOME: folder.at("home") }, folder.at("app")))).toEqual({
    cwd: folder.at("app"),
    home: folder.at("home"),
    workspace: folder.at("app"),
  });
  expect(() => placeOf(worldOf({ HOME: folder.at("home") }, folder.at("gone")))).toThrow(invalid);
  expect(() => placeOf(worldOf({ HOME: folder.at("gone") }, folder.at("app")))).toThrow(invalid);
});

test("E10 the state folder is the person's choice, or the usual place, or the private one inside a sandbox", () => {
  const of = (env: Record<string, string>) => stateFolderOf(worldOf(env), "/home/ada");
  expect(of({})).toBe("/home/ada/.local/state/cordon");
  expect(of({ XDG_STATE_HOME: "/x" })).toBe("/x/cordon");
  expect(of({ XDG_STATE_HOME: "relative" })).toBe("/home/ada/.local/state/cordon");
  expect(of({ CORDON_STATE_DIR: "/y", CORDON_SANDBOX: "1" })).toBe("/y");
  expect(of({ CORDON_SANDBOX: "1", TMPDIR: "/tmp/private", XDG_STATE_HOME: "/x" })).toBe("/tmp/private/.cordon-1000");
});
