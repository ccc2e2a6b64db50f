/**
 * A process in whose searches the policy component of one other thread traps, for the test beside it; nothing else runs it. Its arguments are a tree
 * and a file: the thread that finds the file takes it away, and traps at its first question. Prints what came of the searches.
 */
import { rmSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { FIXED_RULES } from "../../config/builtin_rules.ts";
import type { ReadQuestion, ReadRules } from "../../contract/search.ts";
import { coreFunctions } from "../../engine/core_functions.ts";
import { loadPolicyComponent } from "../../engine/load.ts";
import { mayReadBy } from "../../engine/may_read.ts";
import { createRuleJudge } from "../../engine/rule_judge.ts";
import { createSearch } from "./mod.ts";
import { EVERYTHING, NEVER, NO_GIT_SETTINGS, queryOf } from "./tree_fixture.ts";

/**
 * What the process prints: why a search failed, what the last one before it and the next ones found, and of how many files the rules were asked in another
 * thread afterwards, search by search.
 */
export type Trapped = { failure: string; before: string[]; after: string[][]; judgedByOthers: number[] };

const CORE = { decide: "cordon:policy/rules@0.1.0#decide", reserve: "cordon:policy/rules@0.1.0#reserve" };

const [root = "", mark = ""] = process.argv.slice(2);

if (isMainThread) await main();
else await trapOnce();

/** More room than a component can have: asked for it, this one panics, which is a trap. */
async function trapOnce(): Promise<void> {
  // Asked for before the worker asks, so that this is the first to have it.
  const loading = loadPolicyComponent("files").then((loaded) => {
    const { decide, reserve } = coreFunctions(loaded.exports, CORE);
    loaded.exports = {
      ...loaded.exports,
      [CORE.decide]: (set: number, bytes: number) => decide(set, tookMark() ? reserve(0xffff_ffff) : bytes),
    };
  });
  await import("./worker.ts");
  await loading;
}

function tookMark(): boolean {
  try {
    rmSync(mark);
    return true;
  } catch {
    return false;
  }
}

async function main(): Promise<void> {
  const RealWorker = globalThis.Worker;
  globalThis.Worker = class extends RealWorker {
    constructor() {
      super(import.meta.url, { argv: [root, mark] });
    }
  };
  const asked = question();
  const judge = await createRuleJudge(() => asked.rules, FIXED_RULES).now();
  const rules: ReadRules = { mayRead: mayReadBy(judge, asked), asked };
  const trapped: Trapped = { failure: "", before: [], after: [], judgedByOthers: [] };
  for (let turn = 0; turn < 200 && trapped.failure === ""; turn += 1) {
    try {
      trapped.before = await found(rules);
    } catch (error) {
      trapped.failure = error instanceof Error ? error.message : String(error);
    }
  }
  for (let turn = 0; turn < 3; turn += 1) trapped.after.push(await found(rules));
  // Rules of this thread that leave everything show which files another one has judged.
  const careless: ReadRules = { mayRead: () => true, asked };
  const keys = async () => (await found(careless)).filter((name) => name.endsWith(".key")).length;
  const all = (await found({ mayRead: () => true })).filter((name) => name.endsWith(".key")).length;
  for (let turn = 0; turn < 200 && !trapped.judgedByOthers.some((count) => count > 0); turn += 1)
    trapped.judgedByOthers.push(all - (await keys()));
  process.stdout.write(JSON.stringify(trapped));
}

function question(): ReadQuestion {
  const about = { tool: "grep_search", required: "read-only", mode: "workspace-write", params: {} } as const;
  return {
    rules: { deny: [{ rule: "Read(**/*.key)", layer: "user", origin: "settings.json:1" }], ask: [], allow: [] },
    about: { ...about, cwd: root, home: "/home/ada", roots: [root] },
  };
}

async function found(rules: ReadRules): Promise<string[]> {
  const tree = { root, [Symbol.dispose]: () => {} };
  const search = createSearch({ ...EVERYTHING, ...rules }, NO_GIT_SETTINGS);
  return [...(await search.grep(queryOf(tree, "x"), NEVER)).filenames.list()];
}
