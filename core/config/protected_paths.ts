import type { ProtectedKind } from "../contract/sandbox_policy.ts";
import type { GitPlace } from "../contract/survey.ts";

/** Why cordon's own folders are closed. */
export const OWN_STATE = "cordon's own state";

/** One protected or hidden path with the reason that refusals give. Paths without a leading "~" are below the workspace. */
export type PathRule = { path: string; reason: string; kind?: ProtectedKind };

/**
 * How host-trust files are treated. "settings": nothing that builds or tests has a reason to write them, so `--trust-files=block`
 * refuses. "work": ordinary work changes them, so they are only listed, by `--trust-files=report`. "made": refused once there,
 * but new ones may be made.
 */
export type TrustClass = "settings" | "work" | "made";

/** Names, at any depth of a writable folder, that a tool outside the sandbox obeys. A name may be a pattern within one folder. */
export type TrustRule = { names: readonly string[]; reason: string; class: TrustClass };

const CI = "runs in CI with the repository's secrets";
const EDITOR = "settings and tasks that the editor runs";
const AGENT = "settings, hooks or servers of an agent on the host";
const SHELL = "a shell on the host runs it when it starts";
const PACKAGES = "decides where packages come from and what runs when they are installed";
const DEBUGGER = "commands that a program on the host runs when it starts in this folder";
const INSTRUCTIONS = "instructions that an agent on the host follows";
const BUILD = "a build on the host runs what it says";

/**
 * Host-trust files: whatever a tool outside the sandbox would later execute or obey. Those of git have rules of their own
 * (core/sandbox/git_rules.ts), since git itself must write beside them.
 */
export const HOST_TRUST: readonly TrustRule[] = [
  { names: [".gitmodules"], reason: "names the repositories that git would fetch and trust", class: "settings" },
  { names: [".husky", ".githooks"], reason: "installed as git hooks", class: "settings" },
  {
    names: [".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", "lefthook-local.yml"],
    reason: "names programs that run on commit",
    class: "settings",
  },
  {
    names: [".hg/hgrc", ".hg/hgrc-not-shared", ".jj/repo/config.toml"],
    reason: "hooks of version control",
    class: "settings",
  },
  { names: [".github/workflows", ".github/actions", ".gitlab-ci.yml", ".gitlab/ci"], reason: CI, class: "settings" },
  {
    names: [".circleci", ".buildkite", ".woodpecker", ".forgejo/workflows", ".gitea/workflows"],
    reason: CI,
    class: "settings",
  },
  {
    names: [
      ".travis.yml",
      ".drone.yml",
      ".woodpecker.yml",
      "azure-pipelines.yml",
      "bitbucket-pipelines.yml",
      "Jenkinsfile",
    ],
    reason: CI,
    class: "settings",
  },
  {
    names: [".envrc", ".autoenv", ".mise.toml", "mise.toml"],
    reason: "run when a shell enters the folder",
    class: "settings",
  },
  { names: [".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile"], reason: SHELL, class: "settings" },
  { names: [".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".inputrc"], reason: SHELL, class: "settings" },
  {
    names: [".config/fish", ".config/autostart", ".config/systemd", ".config/environment.d"],
    reason: SHELL,
    class: "settings",
  },
  { names: [".gitconfig", ".config/git"], reason: "keys in it make git run programs", class: "settings" },
  { names: [".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", "bunfig.toml"], reason: PACKAGES, class: "settings" },
  { names: [".yarn/plugins", ".yarn/releases"], reason: "code that yarn loads", class: "settings" },
  { names: ["pip.conf", ".pypirc", ".condarc", ".bundle/config", "nuget.config"], reason: PACKAGES, class: "settings" },
  { names: [".cargo/config", ".cargo/config.toml"], reason: "names the programs that cargo runs", class: "settings" },
  { names: [".mvn"], reason: "extensions and options that maven loads", class: "settings" },
  { names: [".vscode", ".idea", ".zed", ".fleet", ".nova", ".vs", ".helix"], reason: EDITOR, class: "settings" },
  { names: ["*.code-workspace", "*.sublime-project"], reason: EDITOR, class: "settings" },
  { names: [".exrc", ".vimrc", ".nvim.lua", ".nvimrc", ".dir-locals.el"], reason: EDITOR, class: "settings" },
  {
    names: [".devcontainer", ".devcontainer.json"],
    reason: "commands that the editor runs when it opens the folder",
    class: "settings",
  },
  {
    names: [".claude", ".codex", ".cursor", ".gemini", ".agents", ".opencode", ".kiro"],
    reason: AGENT,
    class: "settings",
  },
  {
    names: [".windsurf", ".roo", ".continue", ".junie", ".trae", ".amazonq", ".goose"],
    reason: AGENT,
    class: "settings",
  },
  { names: [".mcp.json", "opencode.json", ".aider.conf.yml"], reason: AGENT, class: "settings" },
  {
    names: [".gdbinit", ".lldbinit", ".Rprofile", ".irbrc", ".pryrc", ".ripgreprc"],
    reason: DEBUGGER,
    class: "settings",
  },
  { names: ["pyvenv.cfg"], reason: "decides which Python runs on the host", class: "made" },
  { names: [".env"], reason: "programs on the host load it into their environment", class: "work" },
  {
    names: ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".windsurfrules"],
    reason: INSTRUCTIONS,
    class: "work",
  },
  { names: [".clinerules", ".github/copilot-instructions.md"], reason: INSTRUCTIONS, class: "work" },
  {
    names: ["Makefile", "makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml"],
    reason: BUILD,
    class: "work",
  },
  { names: ["package.json", "deno.json", "deno.jsonc", "composer.json"], reason: BUILD, class: "work" },
  {
    names: ["pyproject.toml", "setup.py", "setup.cfg", "conftest.py", "tox.ini", "noxfile.py"],
    reason: BUILD,
    class: "work",
  },
  { names: ["Cargo.toml", "build.rs", "Rakefile", "Gemfile", "CMakeLists.txt"], reason: BUILD, class: "work" },
  {
    names: ["build.gradle", "build.gradle.kts", "settings.gradle", "gradlew", "pom.xml", "mvnw"],
    reason: BUILD,
    class: "work",
  },
  {
    names: ["Dockerfile", "compose.yml", "compose.yaml", "docker-compose.yml", "Vagrantfile"],
    reason: BUILD,
    class: "work",
  },
];

/** Made by package managers and compilers by the thousand; nobody on the host works there. Below any writable folder. */
export const EXEMPT_FOLDERS: readonly string[] = [
  "node_modules",
  "site-packages",
  "vendor/bundle",
  "target",
  ".venv/lib",
  "venv/lib",
];

/** The names of HOST_TRUST as paths below a workspace that can be looked up: those without a pattern. */
export function trustPlaces(): PathRule[] {
  const refused = HOST_TRUST.filter(({ class: kind }) => kind === "settings");
  const plain = refused.flatMap(({ names, reason }) => names.map((path) => ({ path, reason })));
  return [...plain.filter(({ path }) => !path.includes("*")), ...VENVS, OWN_POLICY];
}

/** A project's policy for cordon. */
const OWN_POLICY: PathRule = { path: ".cordon", reason: "cordon's own policy" };

const VENVS: readonly PathRule[] = [".venv", "venv"].map((folder) => ({
  path: `${folder}/pyvenv.cfg`,
  reason: "decides which Python runs on the host",
}));

/** The same for any repository, worktree or submodule, in the workspace or outside. Absolute paths. */
export function gitTrust({ gitDir, commonDir }: GitPlace): PathRule[] {
  const pointer = "names the repository whose settings git obeys";
  const back: PathRule[] =
    gitDir === commonDir
      ? []
      : [{ path: `${gitDir}/gitdir`, reason: "names the folder that is this worktree", kind: "pointer" }];
  return [
    { path: `${gitDir}/commondir`, reason: pointer, kind: "pointer" },
    ...back,
    { path: `${commonDir}/hooks`, reason: "git runs these on the host" },
    {
      path: `${commonDir}/config`,
      reason: "keys such as core.fsmonitor and core.sshCommand make git run programs",
      kind: "git_config",
    },
    { path: `${gitDir}/config.worktree`, reason: "keys in it make git run programs" },
    { path: `${commonDir}/info/attributes`, reason: "filters named in it run on checkout" },
  ];
}

/** Secrets: hidden from reading. "~/" is the home folder, names without it lie in the workspace. */
export const SECRETS: readonly PathRule[] = [
  { path: "~/.ssh", reason: "private keys" },
  { path: "~/.gnupg", reason: "private keys" },
  { path: "~/.aws", reason: "cloud credentials" },
  { path: "~/.azure", reason: "cloud credentials" },
  { path: "~/.config/gcloud", reason: "cloud credentials" },
  { path: "~/.kube", reason: "cluster credentials" },
  { path: "~/.docker", reason: "registry credentials" },
  { path: "~/.netrc", reason: "passwords" },
  { path: "~/.git-credentials", reason: "passwords" },
  { path: "~/.config/git/credentials", reason: "passwords" },
  { path: "~/.config/gh", reason: "tokens" },
  { path: "~/.npmrc", reason: "registry tokens" },
  { path: "~/.pypirc", reason: "registry tokens" },
  { path: "~/.cargo/credentials", reason: "registry tokens" },
  { path: "~/.cargo/credentials.toml", reason: "registry tokens" },
  { path: "~/.gem/credentials", reason: "registry tokens" },
  { path: "~/.password-store", reason: "passwords" },
  { path: "~/.local/share/keyrings", reason: "the desktop's keyring" },
  { path: "~/.mozilla", reason: "browser profile with cookies and passwords" },
  { path: "~/.config/google-chrome", reason: "browser profile with cookies and passwords" },
  { path: "~/.config/chromium", reason: "browser profile with cookies and passwords" },
  { path: "~/.config/cordon", reason: "cordon's own policy" },
  { path: "~/.cordon", reason: OWN_STATE },
  { path: "~/.pgpass", reason: "passwords" },
  { path: "~/.my.cnf", reason: "passwords" },
  { path: "~/.vault-token", reason: "tokens" },
  { path: "~/.terraform.d/credentials.tfrc.json", reason: "tokens" },
  { path: "~/.config/op", reason: "passwords" },
  { path: "~/.config/rclone", reason: "cloud credentials" },
  { path: "~/.nvm/.npmrc", reason: "registry tokens" },
  { path: "~/.bash_history", reason: "may hold typed secrets" },
  { path: "~/.zsh_history", reason: "may hold typed secrets" },
  { path: "/etc/shadow", reason: "password hashes" },
  { path: "/etc/gshadow", reason: "password hashes" },
  { path: "/etc/sudoers", reason: "tells which account is worth attacking" },
  { path: "/etc/sudoers.d", reason: "tells which account is worth attacking" },
  { path: "/etc/shadow-", reason: "password hashes" },
  { path: "/etc/gshadow-", reason: "password hashes" },
  { path: "/etc/security/opasswd", reason: "password hashes" },
  { path: "/etc/ssl/private", reason: "private keys" },
  { path: "/etc/pki/tls/private", reason: "private keys" },
  { path: "/etc/letsencrypt", reason: "private keys" },
  { path: "/etc/ssh/ssh_host_rsa_key", reason: "the machine's private key" },
  { path: "/etc/ssh/ssh_host_ecdsa_key", reason: "the machine's private key" },
  { path: "/etc/ssh/ssh_host_ed25519_key", reason: "the machine's private key" },
  { path: "/etc/krb5.keytab", reason: "the machine's Kerberos key" },
  { path: "/etc/wireguard", reason: "private keys" },
  { path: "/etc/openvpn", reason: "private keys" },
  { path: "/etc/NetworkManager/system-connections", reason: "passwords of networks" },
  { path: "/etc/netplan", reason: "passwords of networks" },
  { path: "/etc/kubernetes", reason: "cluster credentials" },
  { path: "/etc/rancher", reason: "cluster credentials" },
  { path: "/sys/kernel/debug", reason: "state of the kernel and of other processes" },
  { path: "/sys/kernel/tracing", reason: "state of the kernel and of other processes" },
  { path: "/sys/firmware/efi/efivars", reason: "may hold keys of the machine" },
  { path: "/sys/fs/pstore", reason: "messages of the kernel" },
  { path: "/run/secrets", reason: "secrets of a container" },
];

/** The path of a rule with the home folder put in. */
export function fromHome(path: string, home: string): string {
  return path.startsWith("~/") ? home + path.slice(1) : path;
}

/** Names of secret files at any depth of the folders that a command works in, and the samples among them that hold none. */
export const SECRET_NAMES: readonly string[] = [".env", ".env.*", ".dev.vars", ".netrc", "id_rsa", "id_ed25519"];

/** Endings that say that there are no values in it. */
export const SAMPLE_ENDINGS: readonly string[] = ["example", "sample", "template", "dist", "default", "defaults"];

/** True for a name of SECRET_NAMES that is no sample. */
export function isSecretName(name: string): boolean {
  const ending = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  if (SAMPLE_ENDINGS.includes(ending)) return false;
  return name.startsWith(".env.") || SECRET_NAMES.includes(name);
}
