import type { FileLayer } from "../../contract/settings.ts";
import type { RuleLists, RuleSource } from "../../contract/verdict.ts";
import { ToolFault } from "../../contract/fault.ts";
import { parseMode } from "../world.ts";
import { type Content, emptyContent, type PlacedSetting } from "./content.ts";
import { CLAUDE_KEYS, CLAUDE_PERMISSION_KEYS } from "./known_keys.ts";
import { invalid, type Located } from "./located.ts";
import { notUsed, readSandbox } from "./read_sandbox.ts";
import { booleanOf, choiceOf, itemsOf, type KeyTable, membersOf, readKeys, textOf, textsOf, wrong } from "./readers.ts";

/** The programs whose own settings can be read too. */
export const INCLUDABLE = ["claude-code"] as const;

/** Reads one of our files. Throws ToolFault `config.invalid` with the place. */
export function readCordonFile(root: Located, layer: FileLayer): Content {
  const content = emptyContent();
  const sandboxOf = (at: Located): PlacedSetting[] => readSandbox(at, content, true);
  readKeys(
    root,
    {
      $schema: (at) => void textOf(at),
      permissions: permissionsReader(content, layer),
      mode: (at) => setMode(content, at),
      locked: (at) => {
        if (layer !== "managed")
          throw invalid(at.origin, '"locked" has a meaning in the managed file only', "leave it out");
        content.locked = { value: booleanOf(at), origin: at.origin };
      },
      sandbox: (at) => void content.sandbox.push(...sandboxOf(at)),
      profiles: (at) => {
        for (const [name, member] of membersOf(at)) content.profiles.set(name, sandboxOf(member));
      },
      include: (at) => {
        for (const item of itemsOf(at))
          content.include.push({ value: choiceOf(item, INCLUDABLE), origin: item.origin });
      },
      audit: (at) => readKeys(at, { commands: (key) => setAudit(content, key) }, () => undefined),
      ...shared(content),
      ...notUsed(CLAUDE_KEYS),
    },
    (at) => void content.unused.push({ value: at.key, origin: at.origin }),
  );
  if (content.locked?.value && content.mode === undefined)
    throw invalid(content.locked.origin, '"locked" stands without a mode', 'write "mode" beside it');
  return content;
}

/** Reads the three blocks of Claude Code's own file; all else in it is its own business. */
export function readClaudeFile(root: Located, layer: FileLayer): Content {
  const content = emptyContent();
  const members = membersOf(root);
  const permissions = members.get("permissions");
  const sandbox = members.get("sandbox");
  const hooks = members.get("hooks");
  if (permissions) permissionsReader(content, layer)(permissions);
  if (sandbox) content.sandbox.push(...readSandbox(sandbox, content, false));
  if (hooks) hooksReader(content)(hooks);
  if (members.get("disableAllHooks")?.value === true) noHooks(content, hooks ?? root);
  return content;
}

function shared(content: Content): KeyTable {
  return {
    hooks: hooksReader(content),
    disableAllHooks: (at) => {
      if (booleanOf(at)) noHooks(content, at);
    },
    allowManagedPermissionRulesOnly: (at) => {
      if (booleanOf(at)) content.managedRulesOnly = { value: true, origin: at.origin };
    },
  };
}

/** Events whose hooks can refuse or ask about a call. */
const DECIDING = ["PreToolUse", "PermissionRequest"] as const;

function hooksReader(content: Content): (at: Located) => void {
  return (at) => {
    const members = membersOf(at);
    if (members.size === 0) return;
    const wanted = (event: string) => {
      const listed = members.get(event)?.value;
      return Array.isArray(listed) ? listed.length > 0 : listed !== undefined;
    };
    content.hooks = { value: DECIDING.filter(wanted), origin: at.origin };
  };
}

function noHooks(content: Content, at: Located): void {
  content.noHooks = { value: true, origin: at.origin };
}

function permissionsReader(content: Content, layer: FileLayer): (at: Located) => void {
  const rules = (list: keyof RuleLists) => (at: Located) => {
    for (const item of itemsOf(at)) content.rules[list].push(ruleOf(item, list, layer));
  };
  const table: KeyTable = {
    allow: rules("allow"),
    ask: rules("ask"),
    deny: rules("deny"),
    defaultMode: (at) => setMode(content, at),
    additionalDirectories: (at) => {
      for (const item of itemsOf(at)) content.roots.push({ value: textOf(item), origin: item.origin });
    },
    disableBypassPermissionsMode: (at) => {
      choiceOf(at, ["disable"]);
      content.noBypass = { value: true, origin: at.origin };
    },
    ...notUsed(CLAUDE_PERMISSION_KEYS),
  };
  return (at) => readKeys(at, table, (key) => void content.unused.push({ value: key.key, origin: key.origin }));
}

function ruleOf(at: Located, list: keyof RuleLists, layer: FileLayer): RuleSource {
  if (typeof at.value === "string") return { rule: textOf(at), layer, origin: at.origin };
  if (!at.members) throw wrong(at, 'a rule is wanted: a text, or {"rule": "…"}');
  const rule: RuleSource = { rule: "", layer, origin: at.origin };
  readKeys(
    at,
    {
      rule: (key) => {
        rule.rule = textOf(key);
      },
      except: (key) => {
        if (list === "allow")
          throw invalid(key.origin, `"${key.key}" stands on an allow rule`, "only deny and ask rules carve out");
        rule.except = textsOf(key);
      },
      match: (key) => {
        rule.match = textsOf(key);
      },
      notMatch: (key) => {
        rule.notMatch = textsOf(key);
      },
      reason: (key) => {
        rule.reason = textOf(key);
      },
    },
    () => undefined,
  );
  if (rule.rule === "") throw wrong(at, 'the "rule" is missing');
  return rule;
}

function setMode(content: Content, at: Located): void {
  const set = modeAt(at);
  if (content.mode && content.mode.mode !== set.mode)
    throw invalid(
      at.origin,
      `"${at.key}" says ${set.mode}, and ${content.mode.origin} says ${content.mode.mode}`,
      "keep one of them",
    );
  content.mode = set;
}

function modeAt(at: Located) {
  try {
    return parseMode(textOf(at), at.origin);
  } catch (error) {
    if (error instanceof ToolFault && error.hint !== undefined && !error.message.startsWith(`${at.origin}:`))
      throw invalid(
        at.origin,
        `"${at.key}" is ${JSON.stringify(at.value)}, and no permission mode has this name`,
        error.hint,
      );
    throw error;
  }
}

function setAudit(content: Content, at: Located): void {
  content.auditCommands = { value: booleanOf(at), origin: at.origin };
}
