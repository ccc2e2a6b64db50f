import type { GitPlace } from "../contract/survey.ts";

/** Why cordon's own folders are closed. */
export const OWN_STATE = "cordon's own state";

/** One protected or hidden path with the reason that refusals give. Paths without a leading "~" are below the workspace. */
export type PathRule = { path: string; reason: string };

/**
 * Host-trust files: whatever a tool outside the sandbox would later execute or obey. Below the workspace; those that exist
 * when the command starts are read-only inside.
 */
export const HOST_TRUST: readonly PathRule[] = [
  { path: ".git/hooks", reason: "git runs these on the host" },
  { path: ".git/config", reason: "keys such as core.fsmonitor and core.sshCommand make git run programs" },
  { path: ".git/config.worktree", reason: "keys in it make git run programs" },
  { path: ".git/info/attributes", reason: "filters named in it run on checkout" },
  { path: ".gitmodules", reason: "names the repositories that git would fetch and trust" },
  { path: ".husky", reason: "installed as git hooks" },
  { path: ".pre-commit-config.yaml", reason: "names programs that run on commit" },
  { path: ".github/workflows", reason: "runs in CI with the repository's secrets" },
  { path: ".gitlab-ci.yml", reason: "runs in CI with the repository's secrets" },
  { path: ".circleci", reason: "runs in CI with the repository's secrets" },
  { path: ".envrc", reason: "direnv runs it when a shell enters the folder" },
  { path: ".npmrc", reason: "decides where packages come from and which shell runs scripts" },
  { path: ".yarnrc.yml", reason: "names plugins that yarn loads" },
  { path: ".vscode", reason: "tasks and settings that the editor runs" },
  { path: ".idea", reason: "run configurations of the editor" },
  { path: ".devcontainer", reason: "commands that the editor runs when it opens the folder" },
  { path: ".claude", reason: "hooks and permissions of an agent on the host" },
  { path: ".codex", reason: "settings of an agent on the host" },
  { path: ".cursor", reason: "hooks of an agent on the host" },
  { path: ".gemini", reason: "settings of an agent on the host" },
  { path: ".mcp.json", reason: "servers that an agent on the host starts" },
  { path: ".cordon", reason: "cordon's own policy" },
  { path: ".venv/pyvenv.cfg", reason: "decides which Python runs on the host" },
  { path: "venv/pyvenv.cfg", reason: "decides which Python runs on the host" },
];

/** The same for any repository, worktree or submodule, in the workspace or outside. Absolute paths. */
export function gitTrust({ gitDir, commonDir }: GitPlace): PathRule[] {
  return [
    { path: `${gitDir}/commondir`, reason: "names the repository whose settings git obeys" },
    { path: `${commonDir}/hooks`, reason: "git runs these on the host" },
    { path: `${commonDir}/config`, reason: "keys such as core.fsmonitor and core.sshCommand make git run programs" },
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

/** Files in the workspace, at its top or one folder down, whose name matches are secrets. Samples without values are not. */
export function isSecretName(name: string): boolean {
  if (/\.(example|sample|template|dist|defaults?)$/i.test(name)) return false;
  return (
    name === ".env" ||
    name.startsWith(".env.") ||
    name === ".dev.vars" ||
    name === ".netrc" ||
    name === "id_rsa" ||
    name === "id_ed25519"
  );
}
