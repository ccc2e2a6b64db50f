import { expect, test } from "bun:test";
import type { SandboxPolicy } from "../contract/sandbox_policy.ts";
import { EMPTY_POLICY } from "../testing/made_up_machine.ts";
import { privateCaches } from "./private_caches.ts";

const policy = (opened: Partial<Pick<SandboxPolicy, "read" | "write">> = {}): SandboxPolicy => ({
  ...EMPTY_POLICY,
  home: "/home/me",
  read: ["/usr"],
  write: ["/home/me/app"],
  ...opened,
});

test("A16 caches of the home folder move into the private temporary folder", () => {
  expect(privateCaches({ env: { PATH: "/bin" }, named: [], policy: policy() })).toEqual({
    caches: { XDG_CACHE_HOME: ".cache", npm_config_cache: ".npm" },
  });
});

test("A16 a variable that names a place out of reach moves too, one that names a writable place stays", () => {
  expect(privateCaches({ env: { GOCACHE: "/home/me/gocache" }, named: [], policy: policy() })).toEqual({
    caches: { XDG_CACHE_HOME: ".cache", npm_config_cache: ".npm", GOCACHE: ".cache/go-build" },
  });
  const env = { GOCACHE: "/home/me/app/gocache", XDG_CACHE_HOME: "/home/me/app/cache" };
  expect(privateCaches({ env, named: [], policy: policy() })).toEqual({ caches: { npm_config_cache: ".npm" } });
});

test("A16 what the policy opens stays where it is, and so does what the person named", () => {
  const caches = (opened: string[], named: string[] = []) =>
    privateCaches({ env: { GOCACHE: "/elsewhere" }, named, policy: policy({ write: opened }) }).caches;
  expect(caches(["/home/me/.npm", "/elsewhere"])).toEqual({ XDG_CACHE_HOME: ".cache" });
  expect(caches(["/home/me/.cache/pip"])).toEqual({ npm_config_cache: ".npm", GOCACHE: ".cache/go-build" });
  expect(caches(["/"])).toBeUndefined();
  expect(caches([], ["GOCACHE", "XDG_CACHE_HOME"])).toEqual({ npm_config_cache: ".npm" });
});
