import { expect, test } from "bun:test";
import fc from "fast-check";
import { scrubEnvironment } from "./environment.ts";

const pass = (names: string[], allowed: readonly string[] | "all" = []) =>
  Object.keys(scrubEnvironment(Object.fromEntries(names.map((name) => [name, "value"])), allowed));

/** Names that open doors: secrets, loaders, runtimes' hooks, sockets of the host. */
const DOORS = [
  "GITHUB_TOKEN",
  "AWS_SECRET_ACCESS_KEY",
  "DB_PASSWORD",
  "OPENAI_API_KEY",
  "MY_KEY",
  "SENTRY_DSN",
  "SESSION_ID",
  "NPM_AUTH",
  "LD_PRELOAD",
  "LD_LIBRARY_PATH",
  "DYLD_INSERT_LIBRARIES",
  "BASH_ENV",
  "ENV",
  "PROMPT_COMMAND",
  "PYTHONSTARTUP",
  "NODE_OPTIONS",
  "PERL5OPT",
  "RUBYOPT",
  "SSH_AUTH_SOCK",
  "GPG_AGENT_INFO",
  "DBUS_SESSION_BUS_ADDRESS",
  "DOCKER_HOST",
  "XDG_RUNTIME_DIR",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "GIT_DIR",
  "GIT_SSH_COMMAND",
  "GIT_CONFIG_COUNT",
  "GIT_ASKPASS",
];

test("what describes the machine passes, what opens doors does not", () => {
  expect(pass(["PATH", "HOME", "LANG", "LC_ALL", "LC_TIME", "TERM", "CI", "CARGO_HOME", "FOO", ...DOORS])).toEqual([
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "LC_TIME",
    "TERM",
    "CI",
    "CARGO_HOME",
  ]);
});

test("all opens the ordinary variables and none of the doors", () => {
  expect(pass(["FOO", "HTTP_VERSION", ...DOORS], "all")).toEqual(["FOO", "HTTP_VERSION"]);
});

test("a name that is given passes, and only that one", () => {
  for (const name of DOORS) expect(pass(DOORS, [name])).toEqual([name]);
});

test("a function exported by bash, and any name that no shell can set, never passes", () => {
  for (const name of ["BASH_FUNC_ls%%", "A=B", "", "1A", "A B", "A\nB"]) {
    expect(pass([name], "all")).toEqual([]);
    expect(pass([name], [name])).toEqual([]);
  }
});

test("values are never changed and no variable is made up", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.stringMatching(/^[A-Z_]{1,12}$/), fc.string()), (env) => {
      for (const [name, value] of Object.entries(scrubEnvironment(env, "all"))) expect(env[name]).toBe(value);
    }),
  );
});
