import { ToolFault } from "../contract/fault.ts";
import type { ModeSetting } from "../contract/request.ts";
import type { Place } from "../contract/tool.ts";
import { isAsStrict, stricter } from "./settings/strictness.ts";
import type { Settings } from "../contract/settings.ts";
import { realpath } from "./look.ts";
import { stateFolderIn } from "./run_key.ts";

/** What the process was started with; read once in cli/main.ts and passed on as a value. */
export type World = {
  argv: readonly string[];
  /** The path of this executable. */
  program: string;
  env: Readonly<Record<string, string>>;
  cwd: string;
  pid: number;
  platform: string;
  uid: number;
  gid: number;
  stdinIsTty: boolean;
};

/** What a name of a mode stands for. */
type ModeName = Pick<ModeSetting, "mode" | "preset" | "asks">;

/** The presets: a name for a mode, and in `dont-ask` what would ask is denied. Claude Code's spellings of them hold too. */
const PLAN: ModeName = { mode: "read-only", preset: "plan" };
const ACCEPT_EDITS: ModeName = { mode: "workspace-write", preset: "accept-edits" };
const DONT_ASK: ModeName = { mode: "workspace-write", preset: "dont-ask", asks: "deny" };

/** The modes and presets with their other spellings, in lower case. */
const MODES: Readonly<Record<string, ModeName>> = {
  "read-only": { mode: "read-only" },
  readonly: { mode: "read-only" },
  plan: PLAN,
  "workspace-write": { mode: "workspace-write" },
  default: { mode: "workspace-write" },
  "accept-edits": ACCEPT_EDITS,
  acceptedits: ACCEPT_EDITS,
  "dont-ask": DONT_ASK,
  dontask: DONT_ASK,
  "danger-full-access": { mode: "danger-full-access" },
  prompt: { mode: "prompt" },
  allow: { mode: "allow" },
  bypasspermissions: { mode: "allow" },
};

/** The names that messages offer. */
const OFFERED = "read-only, workspace-write, danger-full-access, prompt, allow, plan, accept-edits, dont-ask";

/** The mode that holds when nobody sets one. */
export const DEFAULT_MODE: ModeSetting = { mode: "workspace-write", origin: "the default" };

/** Reads a mode's name. `origin` says where it stood. Throws ToolFault `config.invalid`: a misspelt mode must not loosen. */
export function parseMode(text: string, origin: string): ModeSetting {
  const name = text.trim().toLowerCase();
  // Object.hasOwn: "constructor" is a key of every record and no mode.
  const mode = Object.hasOwn(MODES, name) ? MODES[name] : undefined;
  if (mode !== undefined) return { ...mode, origin };
  throw new ToolFault({
    code: "config.invalid",
    message: `${origin} is ${JSON.stringify(text)}, and no permission mode has this name`,
    hint: `use one of ${OFFERED}`,
  });
}

/**
 * The mode of the session: a flag, then CORDON_PERMISSION_MODE (A26), then the settings files, then workspace-write. Throws ToolFault
 * `config.invalid` where a flag or the variable asks for more than the managed file lets anybody have.
 */
export function modeOf(world: World, flag: ModeSetting | undefined, settings?: ModeLayers): ModeSetting {
  const fromEnv = world.env["CORDON_PERMISSION_MODE"];
  const asked = flag ?? (fromEnv === undefined ? undefined : parseMode(fromEnv, "CORDON_PERMISSION_MODE"));
  const ceiling = settings?.ceiling;
  if (asked === undefined) return settings?.mode ?? (ceiling ? stricter(ceiling, DEFAULT_MODE) : DEFAULT_MODE);
  if (ceiling === undefined || isAsStrict(asked, ceiling)) return asked;
  throw new ToolFault({
    code: "config.invalid",
    message: `${asked.origin} asks for the mode ${asked.mode}, and ${ceiling.origin} sets ${ceiling.mode} as the most`,
    hint: `leave it out, or use ${ceiling.mode}`,
  });
}

/** What the settings files say of the mode. */
export type ModeLayers = Pick<Settings, "mode" | "ceiling">;

/** The folder of the person's own settings file. */
export function configFolderOf(world: Pick<World, "env">, home: string): string {
  const { XDG_CONFIG_HOME: xdg } = world.env;
  return `${xdg?.startsWith("/") ? xdg : `${home}/.config`}/cordon`;
}

/** The person's folders, real. The workspace is the working folder. Throws ToolFault `config.invalid`. */
export function placeOf(world: World): Place {
  const cwd = realFolder(world.cwd, "The working folder");
  const home = realFolder(homeOf(world), "The home folder");
  return { cwd, home, workspace: cwd };
}

/** Where cordon keeps its log and its launcher. */
export function stateFolderOf(world: World, home: string): string {
  return stateFolderIn(world.env, home, world.uid);
}

function homeOf(world: World): string {
  const { HOME: home } = world.env;
  return home?.startsWith("/") ? home : process.getBuiltinModule("node:os").homedir();
}

function realFolder(path: string, what: string): string {
  try {
    return realpath(path);
  } catch (error) {
    throw new ToolFault({
      code: "config.invalid",
      message: `${what} ${JSON.stringify(path)} can't be used: ${error instanceof Error ? error.message : String(error)}`,
      hint: "set HOME to a folder that exists, and start in one",
    });
  }
}
