import { resolve } from "node:path";
import type { ModeSetting } from "../../contract/request.ts";
import type { FileLayer, SandboxEntry, Settings, SettingsNotice } from "../../contract/settings.ts";
import type { Place } from "../../contract/tool.ts";
import type { RuleLists, RuleSource } from "../../contract/verdict.ts";
import { kindSync, realpath } from "../look.ts";
import { DEFAULT_MODE } from "../world.ts";
import { fromHome } from "../protected_paths.ts";
import { readRules } from "../read_rules.ts";
import type { Content, Placed, PlacedSetting } from "./content.ts";
import { invalid } from "./located.ts";
import { isAsStrict, stricter, tightens } from "./strictness.ts";

/** One file's content with its layer. `trusted` is false for a project's file that the person has not trusted as it is. */
export type Layer = { name: FileLayer; trusted: boolean; content: Content };

/** What `addLayers` makes; the rest of Settings is about files. */
export type Added = Pick<
  Settings,
  "rules" | "mode" | "ceiling" | "sandbox" | "roots" | "hooks" | "auditCommands" | "notices" | "managedOnly"
>;

/** Where settings are used. `profile` is the one that a flag names. */
export type Use = { place: Place; profile?: string | undefined };

/** Modes that run everything without a question are closed by Claude Code's disableBypassPermissionsMode. */
const NO_BYPASS = "workspace-write";

/**
 * Adds the layers up, weakest first: lists add up, of single values the strongest layer's holds. An untrusted layer gives only what
 * tightens. Throws ToolFault `config.invalid` for a profile that nobody defines.
 */
export function addLayers(layers: readonly Layer[], use: Use): Added {
  const notices = layers.flatMap(({ content }) => ownNotices(content));
  const managedOnly = layers.find(({ name, content }) => name === "managed" && content.managedRulesOnly) !== undefined;
  const rules = addRuleLists(layers, { managedOnly, notices });
  const { mode, ceiling } = modesOf(layers, notices);
  const sandbox = sandboxOf(layers, { use, notices });
  const roots = layers.flatMap((layer) => rootsOf(layer, { use, notices }));
  const audit = layers.findLast(({ content, trusted }) => content.auditCommands !== undefined && trusted)?.content;
  notices.push(...boundsOf(rules.deny, use.place));
  return {
    rules: { ...rules, deny: [...rules.deny, ...rulesOfSandbox(sandbox, use.place)] },
    ...(mode ? { mode } : {}),
    ...(ceiling ? { ceiling } : {}),
    sandbox,
    roots: [...new Set(roots)],
    hooks: hooksOf(layers),
    auditCommands: audit?.auditCommands?.value ?? false,
    notices,
    managedOnly,
  };
}

/**
 * A hook that is not run refuses nothing, which is less than the file asks for. Those of a project count where it is trusted: no
 * others would ever be run. Who writes disableAllHooks does not want them; the managed file's are its own to switch off.
 */
function hooksOf(layers: readonly Layer[]): Added["hooks"] {
  const off = (managed: boolean) =>
    layers.some(({ name, trusted, content }) => trusted && content.noHooks && (!managed || name === "managed"));
  return layers.flatMap(({ name, trusted, content: { hooks } }) => {
    const counts = hooks && hooks.value.length > 0 && trusted && !off(name === "managed");
    return counts ? [{ origin: hooks.origin, events: hooks.value }] : [];
  });
}

function ownNotices({ unused, hooks }: Content): SettingsNotice[] {
  const notUsed = unused.map(({ value, origin }): SettingsNotice => {
    return { kind: "not used", about: "other", origin, text: `"${value}" is not used` };
  });
  if (!hooks) return notUsed;
  const text = '"hooks" are not run in this version';
  return [...notUsed, { kind: "not used", about: "hooks", origin: hooks.origin, text }];
}

/** Deny rules on reading hide files from commands as well; where one can't, that is told. */
function boundsOf(deny: readonly RuleSource[], place: Place): SettingsNotice[] {
  return readRules(deny, place).left.map(({ rule, origin, why }) => {
    const text = `the deny rule ${JSON.stringify(rule)} binds tools and is not hidden from commands: ${why}`;
    return { kind: "bound", about: "sandbox", origin, text };
  });
}

type RuleContext = { managedOnly: boolean; notices: SettingsNotice[] };

function addRuleLists(layers: readonly Layer[], { managedOnly, notices }: RuleContext): RuleLists {
  const left = (rule: RuleSource, kind: SettingsNotice["kind"], why: string) => {
    const text = `the allow rule ${JSON.stringify(rule.rule)} ${why}`;
    notices.push({ kind, about: "rules", origin: rule.origin, text });
    return [];
  };
  const allow = layers.flatMap(({ name, trusted, content }) =>
    content.rules.allow.flatMap((rule) => {
      if (!trusted) return left(rule, "untrusted", "is not in force until you trust this workspace");
      if (managedOnly && name !== "managed") return left(rule, "held", "is closed by the managed file");
      return [rule];
    }),
  );
  return {
    allow,
    ask: layers.flatMap(({ content }) => content.rules.ask),
    deny: layers.flatMap(({ content }) => content.rules.deny),
  };
}

/** A path that commands may not read or write is closed to the file tools too. */
function rulesOfSandbox(sandbox: readonly SandboxEntry[], { workspace, home }: Place): RuleSource[] {
  return sandbox.flatMap(({ field, value, layer, origin }) => {
    if ((field !== "denyRead" && field !== "denyWrite") || /[{}]/.test(value)) return [];
    const spec = `/${resolve(workspace, fromHome(value === "~" ? home : value, home))}`;
    const reason = `sandbox.${field} names it`;
    const rule = (tool: string): RuleSource => ({ rule: `${tool}(${spec})`, layer, origin, reason });
    return field === "denyRead" ? [rule("Read"), rule("Edit")] : [rule("Edit")];
  });
}

function modesOf(layers: readonly Layer[], notices: SettingsNotice[]): Pick<Added, "mode" | "ceiling"> {
  let mode: ModeSetting | undefined;
  let ceiling: ModeSetting | undefined;
  for (const { name, trusted, content } of layers) {
    if (content.noBypass) {
      const closed: ModeSetting = { mode: NO_BYPASS, origin: content.noBypass.origin };
      ceiling = ceiling ? stricter(ceiling, closed) : closed;
    }
    if (!content.mode) continue;
    if (name === "managed" && content.locked?.value) ceiling = ceiling ? stricter(content.mode, ceiling) : content.mode;
    // The managed file never loosens what a person chose.
    if (name === "managed") mode = managedMode(content.mode, mode, notices);
    else if (trusted || isAsStrict(content.mode, mode ?? DEFAULT_MODE)) mode = content.mode;
    else {
      const text = `the mode ${content.mode.preset ?? content.mode.mode} is not in force until you trust this workspace`;
      notices.push({ kind: "untrusted", about: "mode", origin: content.mode.origin, text });
    }
  }
  if (mode && ceiling) mode = managedMode(ceiling, mode, notices);
  return { ...(mode ? { mode } : {}), ...(ceiling ? { ceiling } : {}) };
}

/** The stricter of a mode and what stands above it; what gives way is told. */
function managedMode(above: ModeSetting, mode: ModeSetting | undefined, notices: SettingsNotice[]): ModeSetting {
  if (mode === undefined || isAsStrict(mode, above)) return mode ?? above;
  const text = `the mode ${mode.preset ?? mode.mode} gives way to ${above.preset ?? above.mode} of ${above.origin}`;
  notices.push({ kind: "held", about: "mode", origin: mode.origin, text });
  return above;
}

type Folding = { use: Use; notices: SettingsNotice[] };

function sandboxOf(layers: readonly Layer[], { use, notices }: Folding): SandboxEntry[] {
  const made: SandboxEntry[] = [];
  const add = ({ name, trusted }: Layer, settings: readonly PlacedSetting[]) => {
    for (const setting of settings) {
      if (trusted || tightens(setting, made)) made.push({ ...setting, layer: name, trusted });
      else {
        const text = `"${setting.field}": ${JSON.stringify(setting.value)} is not in force until you trust this workspace`;
        notices.push({ kind: "untrusted", about: "sandbox", origin: setting.origin, text });
      }
    }
  };
  const managed = layers.filter(({ name }) => name === "managed");
  for (const layer of layers) if (layer.name !== "managed") add(layer, layer.content.sandbox);
  for (const layer of layers) add(layer, profileOf(layer, use.profile));
  for (const layer of managed) add(layer, layer.content.sandbox);
  requireProfile(layers, use.profile);
  return made;
}

function profileOf({ content }: Layer, name: string | undefined): readonly PlacedSetting[] {
  return name === undefined ? [] : (content.profiles.get(name) ?? []);
}

function requireProfile(layers: readonly Layer[], name: string | undefined): void {
  if (name === undefined || layers.some(({ content }) => content.profiles.has(name))) return;
  const known = [...new Set(layers.flatMap(({ content }) => [...content.profiles.keys()]))];
  const wanted =
    known.length > 0
      ? `profiles: ${known.join(", ")}`
      : 'no settings file has "profiles"; cordon doctor names the files';
  throw invalid("--profile", `there is no profile ${JSON.stringify(name)}`, wanted);
}

function rootsOf({ trusted, content }: Layer, { use, notices }: Folding): string[] {
  const say = (root: Placed<string>, kind: SettingsNotice["kind"], why: string) => {
    const text = `the folder ${JSON.stringify(root.value)} ${why}`;
    notices.push({ kind, about: "rules", origin: root.origin, text });
    return [];
  };
  return content.roots.flatMap((root) => {
    if (!trusted) return say(root, "untrusted", "is not opened until you trust this workspace");
    const real = realFolder(resolve(use.place.workspace, fromHome(root.value, use.place.home)));
    return real === null ? say(root, "not used", "is not there") : [real];
  });
}

function realFolder(path: string): string | null {
  try {
    return kindSync(path)?.isDirectory() ? realpath(path) : null;
  } catch {
    return null;
  }
}
