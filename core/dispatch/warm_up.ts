/** What the calls of a process that lasts would wait for, brought up ahead of them. Nothing here decides or looks at a file. */
import type { Effect, Mode } from "../contract/verdict.ts";
import type { ToolRequest } from "../contract/request.ts";
import type { Place } from "../contract/tool.ts";
import { validate } from "./validate.ts";
import { compileSearchModule } from "../engine/load.ts";
import type { RuleJudge } from "../engine/rule_judge.ts";
import type { Registry } from "../tools/registry.ts";

/** What is warmed up. */
export type Cold = { policy: RuleJudge; registry: Registry; place: Place; mode: Mode };

/**
 * For the time before the first call: compiles the policy and asks it something whose answer goes nowhere, then checks an input. Searches are left
 * alone: they would take 7 MB more of a process that may only run commands. What fails here fails again, and is told, where it is needed.
 */
export async function warmUp({ policy, registry, place, mode }: Cold): Promise<void> {
  const judge = await policy.now();
  const { cwd, home, workspace } = place;
  const effects: Effect[] = [{ kind: "read", path: workspace }];
  const about = { tool: NAME, required: "read-only", mode, effects, params: {}, asks: "deny" } as const;
  judge({ ...about, cwd, home, roots: [workspace], explain: true });
  await validate(REQUEST, registry);
}

const NAME = "grep_search";

const REQUEST: ToolRequest = {
  id: "",
  door: "serve",
  tool: NAME,
  input: { pattern: "." },
  signal: new AbortController().signal,
};

/** For the moment a call came in: who reads files will search them. The compiler works beside all that stands before a search. */
export async function expect(tool: string, registry: Registry): Promise<void> {
  const found = await registry.find(tool, "serve");
  if (found?.requires === "read-only") await compileSearchModule();
}
