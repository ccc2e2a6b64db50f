import { join } from "node:path";
import type { Settings, SettingsFile } from "../../contract/settings.ts";
import type { Place } from "../../contract/tool.ts";
import { configFolderOf, type World } from "../world.ts";
import { addLayers, type Layer, type Use } from "./layers.ts";
import type { Content } from "./content.ts";
import { type Candidate, readOwnText } from "./own_file.ts";
import { digestOf, readTrust } from "./trust.ts";

/** The managed file: root's, for everybody on the machine. */
export const MANAGED_FILE = "/etc/cordon/config.json";

/** Where settings are looked for. `managed` differs in tests only. */
export type Places = Use & { world: World; stateFolder: string; managed?: string };

type Format = SettingsFile["format"];
type Named = Candidate & { format: Format };
type Read = Named & { text: string; content: Content };

/**
 * Reads every settings file that there is and adds the layers up. A machine without one pays for a few looks and loads no parser.
 * Rejects with ToolFault `config.invalid`, whose message starts with file:line:column.
 */
export async function loadSettings(places: Places): Promise<Settings> {
  const { world, place, stateFolder } = places;
  const own = ownFiles(places);
  const read = await readAll(own, world);
  const person = read.some(
    ({ layer, content }) => (layer === "user" || layer === "managed") && content.include.length > 0,
  );
  const projectAsks = read.some(({ layer, content }) => isProject(layer) && content.include.length > 0);
  const others = person || projectAsks ? claudeFiles(place) : [];
  const claude = await readAll(others, world);
  // What the person includes is part of what is trusted; a project can't open the person's own files to itself.
  const all = [...read, ...claude];
  const digest = digestOf(all.filter(({ layer }) => isProject(layer)).map(({ shown: path, text }) => ({ path, text })));
  const trusted = digest === undefined ? undefined : readTrust(stateFolder, world.uid)[place.workspace];
  const trust =
    digest === undefined
      ? "nothing to trust"
      : !trusted
        ? "untrusted"
        : trusted.digest === digest
          ? "trusted"
          : "changed";
  const included = person || trust === "trusted" ? claude : [];
  const layers = LAYER_ORDER.flatMap((name) =>
    [...included, ...read].flatMap((file): Layer[] =>
      file.layer === name ? [{ name, trusted: !isProject(name) || trust === "trusted", content: file.content }] : [],
    ),
  );
  const inForce = [...read, ...included];
  const files = [...own, ...(person || trust === "trusted" ? others : [])].map(
    ({ path, layer, format }): SettingsFile => {
      const there = inForce.some((file) => file.path === path);
      const state = !there ? "absent" : isProject(layer) && trust !== "trusted" ? "untrusted" : "in force";
      return { path, layer, format, state };
    },
  );
  const added = addLayers(layers, places);
  return { ...added, files, workspaceTrust: trust, ...(digest === undefined ? {} : { digest }) };
}

const LAYER_ORDER = ["user", "project", "local", "managed"] as const;

function isProject(layer: SettingsFile["layer"]): boolean {
  return layer === "project" || layer === "local";
}

async function readAll(files: readonly Named[], world: World): Promise<Read[]> {
  const found = files.flatMap((file) => {
    const text = readOwnText(file, world);
    return text === null ? [] : [{ ...file, text }];
  });
  if (found.length === 0) return [];
  const [{ parseLocated }, { readClaudeFile, readCordonFile }] = await Promise.all([
    import("./located.ts"),
    import("./read_settings.ts"),
  ]);
  return Promise.all(
    found.map(async (file) => {
      const root = await parseLocated(file.shown, file.text);
      const content = file.format === "cordon" ? readCordonFile(root, file.layer) : readClaudeFile(root, file.layer);
      return { ...file, content };
    }),
  );
}

function ownFiles({ world, place, managed }: Places): Named[] {
  const user = join(configFolderOf(world, place.home), "config.json");
  const inProject = (name: string, layer: "project" | "local"): Named => ({
    path: join(place.workspace, ".cordon", name),
    shown: `.cordon/${name}`,
    layer,
    format: "cordon",
  });
  const root = managed ?? MANAGED_FILE;
  return [
    { path: user, shown: user, layer: "user", format: "cordon" },
    inProject("config.json", "project"),
    inProject("config.local.json", "local"),
    { path: root, shown: root, layer: "managed", format: "cordon" },
  ];
}

function claudeFiles({ home, workspace }: Place): Named[] {
  const named = (folder: string, name: string, layer: SettingsFile["layer"]): Named => {
    const path = join(folder, ".claude", name);
    return { path, shown: layer === "user" ? path : `.claude/${name}`, layer, format: "claude-code" };
  };
  return [
    named(home, "settings.json", "user"),
    named(workspace, "settings.json", "project"),
    named(workspace, "settings.local.json", "local"),
  ];
}
