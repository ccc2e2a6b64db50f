import type { OpenLauncher } from "../process/launcher_file.ts";
import type { RunningCommand } from "../process/launch.ts";
import type { Planned } from "../process/replacement.ts";

/**
 * Commands on this machine, in the sandbox. `launcher` opens it at first use; `closing` aborts when the process is about to
 * end; `signal` hands one on to every command that runs.
 */
export type LocalHost = {
  launcher: () => OpenLauncher;
  background: "allowed" | "refused";
  stateFolder: string;
  uid: number;
  closing: AbortSignal;
  track: (command: RunningCommand) => () => void;
  signal: (name: string) => void;
  /** Makes this process the launcher of a command; comes back only when it can't. */
  replace?: (planned: Planned) => void;
  close: () => Promise<void>;
};

/** What a local host is made of. */
export type LocalHostParts = Pick<LocalHost, "background" | "stateFolder" | "uid"> & { open: () => OpenLauncher };

/** Makes the host. Nothing is opened or started yet. */
export function createLocalHost(parts: LocalHostParts): LocalHost {
  const running = new Set<RunningCommand>();
  const closing = new AbortController();
  let opened: OpenLauncher | undefined;
  return {
    background: parts.background,
    stateFolder: parts.stateFolder,
    uid: parts.uid,
    closing: closing.signal,
    launcher: () => {
      opened ??= parts.open();
      return opened;
    },
    track: (command) => {
      running.add(command);
      return () => running.delete(command);
    },
    signal: (name) => {
      for (const command of running) command.forward(name);
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled([...running].map(({ ended }) => ended));
    },
  };
}
