import { compilePolicy, decider, releasePolicy, type CompiledPolicy } from "../engine/policy.ts";
import { addRules } from "../config/builtin_rules.ts";
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
};

/** Compiles each set of rules once and keeps those that were used last. */
export function createRuleSets(): RuleSets {
  const kept = new Map<string, { policy: CompiledPolicy; judge: JudgeNow }>();
  const numbers = new Map<RuleLists, number>();
  const numberOf = (under: RuleLists) => {
    const number = numbers.get(under) ?? numbers.size;
    numbers.set(under, number);
    return number;
  };
  return {
    judgeFor: async (rules, under) => {
      const key = `${under ? numberOf(under) : ""}${JSON.stringify(rules)}`;
      const known = kept.get(key);
      if (known) {
        kept.delete(key);
        kept.set(key, known);
        return known.judge;
      }
      const made = await compilePolicy(under ? addRules(under, rules) : rules);
      if (!made.ok) throw badRules(made.faults);
      const judge = await decider(made.policy);
      kept.set(key, { policy: made.policy, judge });
      const [oldest] = kept;
      if (kept.size > KEPT_SETS && oldest) {
        kept.delete(oldest[0]);
        await releasePolicy(oldest[1].policy);
      }
      return judge;
    },
  };
}
