import { existsSync, readFileSync, readlinkSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LinuxFacts } from "../../contract/facts.ts";
import { ToolFault } from "../../contract/fault.ts";
import { LAUNCHER_DIGEST, type OpenLauncher } from "./launcher_file.ts";
import { dropOldest, dropUnfinished, unfinishedName } from "../../store/unfinished.ts";

/** The facts of this machine and user; `forget` drops the remembered ones after a surprise. */
export type Machine = { facts: () => LinuxFacts; forget: () => void; marks: () => MachineMarks };

/** All that the facts depend on as it stands now, for who wants to compare it later; and where the facts are remembered. */
export type MachineMarks = {
  marks: { texts: [string, string | null][]; namespaces: [string, string | null][]; status: string[] };
  remembered: string[];
};

/**
 * What the facts depend on, so that remembered ones are used only while all of it is the same: boot, launcher, ids,
 * capabilities, an outer sandbox, and the settings about namespaces.
 */
const FACT_FILES = [
  "/proc/sys/kernel/random/boot_id",
  "/proc/self/uid_map",
  "/proc/sys/user/max_user_namespaces",
  "/proc/sys/kernel/unprivileged_userns_clone",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
  "/proc/sys/kernel/yama/ptrace_scope",
];

/** A container made by the same user has other mounts and another /proc, and may allow less. */
const FACT_NAMESPACES = ["user", "pid", "mnt"];

/** Probes by running the launcher once and remembers the answer in `folder` until something that it rests on changes. */
export function createMachine(launcher: () => OpenLauncher, folder: string): Machine {
  const path = () => join(folder, `machine-${factKey()}.json`);
  return {
    facts: () => remembered(path()) ?? probe(launcher(), path()),
    forget: () => {
      try {
        unlinkSync(path());
      } catch {
        // Nothing was remembered.
      }
    },
    marks: () => ({ marks: marksNow(), remembered: [path()] }),
  };
}

function probe(launcher: OpenLauncher, path: string): LinuxFacts {
  const child = Bun.spawnSync([launcher.program, "probe"], {
    argv0: "cordon-launcher",
    env: {},
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 10_000,
  });
  if (child.exitCode !== 0) {
    throw new ToolFault({
      code: "sandbox.unenforced",
      message: `The launcher could not look at this machine: ${child.stderr.toString().trim() || `exit code ${child.exitCode}`}`,
      hint: "see `cordon doctor`",
    });
  }
  const text = child.stdout.toString();
  // Written by our own launcher, whose bytes were verified; core/contract/facts.ts mirrors its type.
  const facts = JSON.parse(text) as LinuxFacts;
  remember(path, text);
  return facts;
}

/** Each container that shares the state folder is a machine of its own here, and most are never seen again. */
const MOST_REMEMBERED = 32;

function remember(path: string, text: string): void {
  try {
    const temporary = unfinishedName(path);
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
    renameSync(temporary, path);
    dropUnfinished(dirname(path));
    dropOldest(dirname(path), { named: /^machine-[0-9a-f]+\.json$/, most: MOST_REMEMBERED });
  } catch {
    // Not remembered: the next start probes again.
  }
}

function remembered(path: string): LinuxFacts | null {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return null;
  }
}

function factKey(): string {
  const { status, namespaces, texts } = marksNow();
  const hash = new Bun.CryptoHasher("sha256").update(LAUNCHER_DIGEST).update(status.join("\n"));
  for (const [name, link] of namespaces) hash.update(`\n${name} ${link}`);
  for (const [file, text] of texts) hash.update(`\n${file} ${text}`);
  return hash.digest("hex").slice(0, 24);
}

function marksNow(): MachineMarks["marks"] {
  return {
    status: statusLines(),
    namespaces: FACT_NAMESPACES.map((name) => [`/proc/self/ns/${name}`, linkOf(`/proc/self/ns/${name}`)]),
    texts: FACT_FILES.map((file) => [file, textOf(file)]),
  };
}

/** Lines of proc_pid_status(5) that tell what this process may do; the others change all the time. */
const STATUS_LINES = new Set(["Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters"]);

function statusLines(): string[] {
  const lines = (textOf("/proc/self/status") ?? "").split("\n");
  return lines.filter((line) => STATUS_LINES.has(line.slice(0, line.indexOf(":"))));
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function textOf(file: string): string | null {
  // Asked first: half of these files are missing on most kernels, and an exception costs more than the look.
  if (!existsSync(file)) return null;
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
