import type { Demands } from "./sandbox_request.ts";

/** A symlink of the system shown as it is, for example /bin on a merged /usr. */
export type ShownLink = { path: string; target: string };

/**
 * The file and network policy of one command with every path real. Later lists win inside earlier ones: hidden and protected
 * hold inside what may be read or written.
 */
export type SandboxPolicy = {
  home: string;
  read: string[];
  write: string[];
  hidden: { path: string; folder: boolean; reason: string }[];
  protected: { path: string; reason: string }[];
  /** Links in writable folders that lead to protected places, and must go on leading there. */
  pinned: string[];
  /** Protected places that do not exist. No mount can stand there: what is made is removed when the command ends. */
  absent: { path: string; reason: string }[];
  links: ShownLink[];
  /** Folders where services of the host listen: closed where a wider folder shows them, but for what is named inside. */
  services: string[];
  /** Devices of the host that stay usable where there is no /dev of the command's own. */
  devices: string[];
  network: "blocked" | "open";
  demands: Demands;
};
