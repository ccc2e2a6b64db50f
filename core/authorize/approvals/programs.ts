/** Builtins of bash that run nothing of the file system. `.` and `source`, `eval` and `exec` are interpreters here. */
export const BUILTINS: ReadonlySet<string> = new Set(
  (
    "alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec " +
    "exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray " +
    "readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait . : ["
  ).split(" "),
);

/** Programs that run other programs, or code that is given to them: no rule on their name bounds what a call does. */
const INTERPRETERS: ReadonlySet<string> = new Set(
  // Shells and what runs text.
  (
    "sh bash dash zsh ksh mksh ash fish csh tcsh busybox toybox pwsh powershell cmd nu xonsh elvish eval exec source . " +
    // Interpreters and what compiles and runs at once.
    "python python2 python3 pypy pypy3 ipython node nodejs deno bun tsx ts-node perl ruby irb php lua luajit tclsh wish guile racket " +
    "R Rscript julia java jshell groovy scala kotlin osascript awk gawk mawk nawk sed ed ex vim vi nvim emacs gdb lldb " +
    "make gmake cmake ninja just task rake gradle gradlew mvn ant bazel buck scons tox nox invoke pytest jest vitest mocha " +
    // Wrappers.
    "env sudo doas su runuser pkexec nice ionice nohup stdbuf setsid timeout time command builtin xargs parallel watch flock " +
    "chroot unshare nsenter setpriv taskset chrt systemd-run script expect ssh find fd strace ltrace perf valgrind entr caffeinate " +
    // What fetches a package and runs it.
    "npx pnpx bunx uvx pipx pipenv poetry uv rye nix nix-shell devbox corepack docker podman kubectl nerdctl lxc vagrant"
  ).split(" "),
);

/** Programs whose subcommands do different things: the first word alone says nothing. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  (
    "git hg svn gh glab npm pnpm yarn cargo go rustup pip pip3 conda apt apt-get dnf yum brew systemctl journalctl terraform aws " +
    "gcloud az helm ip dotnet gem bundle composer mix flutter dart swift firebase vercel heroku stack cabal"
  ).split(" "),
);

/** Subcommands that run code which the words do not show. */
const CODE_RUNNERS: ReadonlySet<string> = new Set(
  (
    "npm:exec npm:x npm:explore npm:init npm:create pnpm:exec pnpm:dlx pnpm:create yarn:dlx yarn:exec yarn:create cargo:run " +
    "cargo:install go:run go:generate go:install git:bisect git:submodule git:filter-branch git:rebase git:difftool git:config " +
    "conda:run pip:install pip3:install gem:exec bundle:exec dotnet:run dotnet:exec dart:run swift:run mix:run stack:exec " +
    "cabal:exec cabal:run gh:alias gh:extension rustup:run npm:config composer:exec"
  ).split(" "),
);

/** Programs whose scripts have names: `npm run build` is one thing, `npm run` any. */
const SCRIPT_RUNNERS: ReadonlySet<string> = new Set("npm:run npm:run-script pnpm:run yarn:run".split(" "));

/** What removes, overwrites or sends: each call of it is another matter. */
const HEAVY: ReadonlySet<string> = new Set(
  (
    "rm rmdir unlink shred dd mkfs mv ln chmod chown chgrp truncate tee kill pkill killall mount umount shutdown reboot halt " +
    "curl wget nc ncat socat scp rsync sftp ftp telnet crontab at batch useradd usermod passwd visudo iptables nft tar unzip zip cpio patch install cp"
  ).split(" "),
);

/** Variables that change which program runs, or what it runs. */
const POWERFUL =
  /^(PATH|ENV|IFS|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|EDITOR|VISUAL|PAGER|BROWSER|SHELL)$|^(LD_|DYLD_|BASH_|NODE_|NPM_|PYTHON|PERL|RUBY|GIT_|JAVA_|LUA_|RUSTC|CARGO_)/;

/** Whether a program runs others, or code. `name` may be a path. */
export function isInterpreter(name: string): boolean {
  const base = name.slice(name.lastIndexOf("/") + 1);
  return INTERPRETERS.has(base) || INTERPRETERS.has(base.replace(/[\d.]+$/, ""));
}

/** Files of the working folder that say what a program runs. */
const RECIPES: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
  make: ["GNUmakefile", "makefile", "Makefile"],
  gmake: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile", "Justfile"],
};

/** The files that say what a program runs, by their names in the working folder; those that are there count. */
export function recipesOf(name: string): readonly string[] {
  return Object.hasOwn(RECIPES, name) ? (RECIPES[name] ?? []) : [];
}

/** Whether setting a variable can change which program a command runs. */
export function isPowerful(variable: string): boolean {
  return POWERFUL.test(variable);
}

/**
 * The words that a rule on a command may begin with, from narrow to broad: `git push origin main` gives [["git","push"]]. None for
 * what runs other things, and for what is heavy.
 */
export function prefixesOf(words: readonly string[]): string[][] {
  const [name = "", sub = "", third = ""] = words;
  // A path is one program, and a rule on its text would hold for another that is put there.
  if (!isPlainName(name) || isInterpreter(name) || HEAVY.has(name)) return [];
  const pair = `${name}:${sub}`;
  if (CODE_RUNNERS.has(pair)) return [];
  if (SCRIPT_RUNNERS.has(pair)) return isScriptName(third) ? [[name, sub, third]] : [];
  if (WITH_SUBCOMMANDS.has(name)) return isSubcommand(sub) ? [[name, sub]] : [];
  return isSubcommand(sub) && words.length > 2 ? [[name, sub], [name]] : [[name]];
}

function isPlainName(word: string): boolean {
  return /^[A-Za-z0-9_][\w.+-]*$/.test(word);
}

function isSubcommand(word: string): boolean {
  return /^[a-z][a-z0-9-]*$/.test(word);
}

function isScriptName(word: string): boolean {
  return /^[A-Za-z][\w:.-]*$/.test(word);
}
