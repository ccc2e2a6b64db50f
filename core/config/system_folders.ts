/**
 * What a command may read without being asked: the system and the person's toolchains, never the home folder itself. A name
 * that is a symlink (merged /usr) is shown as one. Tables: one row a path, the reason where it is not plain.
 */
export const SYSTEM_READ: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/etc",
  "/opt",
  "/nix/store",
  "/run/current-system/sw",
  // Java's and Python's alternatives point through it.
  "/var/lib/alternatives",
  // Runtimes read cgroup limits and the processor's caches here to choose their thread count.
  "/sys",
  // What /etc/resolv.conf points at. The folders hold sockets of the resolvers too, so only the files.
  "/run/systemd/resolve/stub-resolv.conf",
  "/run/systemd/resolve/resolv.conf",
  "/run/NetworkManager/resolv.conf",
  "/run/resolvconf/resolv.conf",
  "/mnt/wsl/resolv.conf",
];

/**
 * Where services of the host listen (docker, D-Bus, systemd, databases). A socket can be connected to through a read-only
 * mount, and most of them run programs for their clients: reading all files is no reason to reach them.
 */
export const SERVICES: readonly string[] = ["/run"];

/** Toolchains below the home folder that programs on PATH are part of. Folders that hold credentials are named file by file. */
export const HOME_READ: readonly string[] = [
  ".asdf",
  ".bun",
  ".cargo/bin",
  ".cargo/config",
  ".cargo/config.toml",
  ".cargo/env",
  ".cargo/git",
  ".cargo/registry",
  ".config/git/config",
  ".config/git/ignore",
  ".deno",
  ".gitconfig",
  ".local/bin",
  ".local/lib",
  ".local/pipx",
  ".local/share/mise",
  ".local/share/pnpm",
  ".nvm",
  ".pyenv",
  ".rbenv",
  ".rustup",
  ".sdkman",
  ".volta",
  "go",
];

/** Never a workspace: writing here changes what the person's next login runs, or the system. */
export const NEVER_WORKSPACE: readonly string[] = [
  "/",
  "/bin",
  "/boot",
  "/dev",
  "/etc",
  "/home",
  "/lib",
  "/lib64",
  "/opt",
  "/proc",
  "/root",
  "/run",
  "/sbin",
  "/sys",
  "/tmp",
  "/usr",
  "/var",
];

/** Devices that ordinary programs open. */
export const DEVICES: readonly string[] = [
  "/dev/null",
  "/dev/zero",
  "/dev/full",
  "/dev/tty",
  "/dev/ptmx",
  "/dev/pts",
  "/dev/shm",
  "/dev/random",
  "/dev/urandom",
];

/** Where control groups are set: root could lift its own limits there, and freeze or end processes of the host. */
export const CONTROL_GROUPS = "/sys/fs/cgroup";

/** What a person is told when something is written there. */
export const CONTROL_GROUPS_REASON = "control groups bound this command and hold others";
