/** Variables that a command gets from the caller. What tells about the machine or the terminal, nothing that opens doors. */
const PASSED = new Set(
  `PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM COLORTERM TERM_PROGRAM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CI
  EDITOR VISUAL PAGER NODE_ENV CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN GOPATH GOROOT GOCACHE GOFLAGS
  JAVA_HOME MAVEN_HOME GRADLE_HOME NVM_DIR PYENV_ROOT PYENV_VERSION RBENV_ROOT VOLTA_HOME BUN_INSTALL DENO_DIR VIRTUAL_ENV
  CONDA_PREFIX PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE MAKEFLAGS MAKELEVEL CC CXX CFLAGS CXXFLAGS LDFLAGS SOURCE_DATE_EPOCH DEBUG`.split(
    /\s+/,
  ),
);

/** A name that says it holds a secret. Such a variable passes only when it is named. */
const SECRET_NAME =
  /(TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|PRIVATE|ACCESS_?KEY|AUTH|COOKIE|SESSION|_KEY$|^KEY$|_PAT$|_DSN$)/i;

/** Variables that make the loader or a runtime run other code, or lead to a socket of the host. Never passed unless named. */
const DANGEROUS =
  /^(LD_|DYLD_|BASH_ENV$|ENV$|BASH_FUNC_|PROMPT_COMMAND$|PYTHONSTARTUP$|NODE_OPTIONS$|RUBYOPT$|PERL5OPT$|SSH_|GPG_|DBUS_|DOCKER_|XDG_RUNTIME_DIR$|DISPLAY$|WAYLAND_DISPLAY$|GIT_)/;

/** Which variables of `from` a command gets. `allowed` are names, or "all" for every one that is neither secret nor dangerous. */
export function scrubEnvironment(
  from: Readonly<Record<string, string>>,
  allowed: readonly string[] | "all",
): Record<string, string> {
  const named = new Set(allowed === "all" ? [] : allowed);
  const passes = (name: string) => {
    if (named.has(name)) return true;
    if (PASSED.has(name) || name.startsWith("LC_")) return true;
    return allowed === "all" && !SECRET_NAME.test(name) && !DANGEROUS.test(name);
  };
  // A name with "=" or a NUL can't be set by a shell; the kernel would read it as another variable.
  return Object.fromEntries(
    Object.entries(from).filter(([name]) => passes(name) && /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)),
  );
}
