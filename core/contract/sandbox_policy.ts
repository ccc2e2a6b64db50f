import type { Limits, Property } from "./plan.ts";
import type { Demands, RulePattern, TrustFiles } from "./sandbox_request.ts";

/** A symlink of the system shown as it is, for example /bin on a merged /usr. */
export type ShownLink = { path: string; target: string };

/** A real path with all below it, or what a glob matches. */
export type NamedPlace = { path: string } | { glob: string };

/**
 * A place that a person's flag closed. "both" may not even be read. `unmounted` says that nothing stands there now that a mount
 * could cover.
 */
export type DeniedPlace = { place: NamedPlace; access: "both" | "write"; unmounted: boolean; reason: string };

/** What a deny rule on reading names where no look has found it all: names alone close it. */
export type RuledNames = { patterns: RulePattern[]; except: RulePattern[]; reason: string };

/**
 * What a broker does about a protected place beyond what a mount does. "git_config": it carries out git's own harmless changes, so
 * that a mount would be in the way. "pointer", "setting": where there is no mount, the rules by name let it go or do not know it.
 */
export type ProtectedKind = "git_config" | "pointer" | "setting";

/** A folder that is open only for what the globs name. */
export type LimitedFolder = { root: string; globs: string[]; access: "read" | "write" };

/**
 * The file and network policy of one command with every path real. Later lists win inside earlier ones: hidden and protected
 * hold inside what may be read or written.
 */
export type SandboxPolicy = {
  home: string;
  read: string[];
  write: string[];
  /** Folders that the command works in. */
  work: string[];
  /**
   * Those of them that were not looked through for secrets: there, names alone make a file one. Elsewhere all that were there are in
   * `hidden`, and what the command makes under such a name is its own.
   */
  secretsByName: string[];
  /** True where the workspace is too large to be looked through. */
  secretsUnseen: boolean;
  /** `asked`: a person's flag, setting or rule closed it, so that no flag opens it. */
  hidden: { path: string; folder: boolean; reason: string; asked?: true }[];
  ruled: RuledNames[];
  /** `missing` ones have no mount. */
  protected: { path: string; reason: string; kind?: ProtectedKind; missing?: true; asked?: true }[];
  denied: DeniedPlace[];
  /** Secrets and trusted files that a person's flag names exactly, or by a pattern of that name. */
  opened: { place: NamedPlace; flag: string }[];
  limited: LimitedFolder[];
  trustFiles: TrustFiles;
  /** Folders of repositories that are writable roots themselves or lie in no folder of that name. */
  gitDirs: string[];
  /** Sockets of the host that may be connected to. */
  unix: string[];
  reportReads: boolean;
  limits: Limits;
  /** Links in writable folders that lead to protected places, and must go on leading there. */
  pinned: string[];
  links: ShownLink[];
  /** Folders where services of the host listen: closed where a wider folder shows them, but for what is named inside. */
  services: string[];
  /** Devices of the host that stay usable where there is no /dev of the command's own. */
  devices: string[];
  network: "blocked" | "open";
  demands: Demands;
  /** What was demanded by name, beyond what the defaults and flags ask for. */
  required: Property[];
};
