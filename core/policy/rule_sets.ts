import {
  compileFixed,
  compilePolicy,
  decider,
  releasePolicy,
  type CompiledPolicy,
  type PolicyCompiled,
} from "../engine/policy.ts";
import { beyondFixed, FIXED_RULES } from "../config/builtin_rules.ts";
import { badRules } from "../engine/bad_rules.ts";
import type { Decision, PolicyQuestion, RuleLists } from "../contract/verdict.ts";

/** Judges by one set of rules. */
export type JudgeNow = (question: PolicyQuestion) => Decision;

/** Sets that stay compiled. A stream of lines seldom uses more than a few, and one that never repeats must not fill the memory. */
const KEPT_SETS = 256;

/** Compiled sets of rules by their text. */
export type RuleSets = {
  /**
   * The judge of `rules` under those that never change; to write all of them out as the key would cost more than a decision.
   * Rejects with ToolFault `policy.bad_rule`.
   */
  judgeFor: (rules: RuleLists, under?: RuleLists) => Promise<JudgeNow>;
  /** The set of the same rules. Good until the next question for another one, which may free it. */
  setFor: (rules: RuleLists, under?: RuleLists) => Promise<RuleSet>;
};

/** A set of rules that is compiled. */
export type RuleSet = { policy: CompiledPolicy; judge: JudgeNow };

/** Compiles each set of rules once and keeps those that were used last. */
export function createRuleSets(): RuleSets {
  const kept = new Map<string, RuleSet>();
  const bases = new Map<RuleLists, Promise<CompiledPolicy>>();
  const baseOf = (under: RuleLists) => {
    const base = bases.get(under) ?? overFixed(under);
    bases.set(under, base);
    return base;
  };
  const setFor = async (rules: RuleLists, under?: RuleLists): Promise<RuleSet> => {
    const base = under && (await baseOf(under));
    const key = `${base?.set ?? ""}${JSON.stringify(rules)}`;
    const known = kept.get(key);
    if (known) {
      kept.delete(key);
      kept.set(key, known);
      return known;
    }
    const policy = await compiled(rules, base);
    const set = { policy, judge: await decider(policy) };
    kept.set(key, set);
    const [oldest] = kept;
    if (kept.size > KEPT_SETS && oldest) {
      kept.delete(oldest[0]);
      await releasePolicy(oldest[1].policy);
    }
    return set;
  };
  return { setFor, judgeFor: async (rules, under) => (await setFor(rules, under)).judge };
}

/** The built-in rules begin with those that the component has compiled already. */
async function overFixed(rules: RuleLists): Promise<CompiledPolicy> {
  const own = beyondFixed(rules);
  return own === undefined ? compiled(rules) : compiled(own, sound(await compileFixed(FIXED_RULES)));
}

async function compiled(rules: RuleLists, under?: CompiledPolicy): Promise<CompiledPolicy> {
  return sound(await compilePolicy(rules, under));
}

function sound(made: PolicyCompiled): CompiledPolicy {
  if (made.ok) return made.policy;
  throw badRules(made.faults);
}
