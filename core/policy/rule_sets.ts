import { compilePolicy, decider, releasePolicy, type CompiledPolicy } from "../engine/policy.ts";
import { badRules } from "../engine/bad_rules.ts";
import type { Decision, PolicyQuestion, RuleLists } from "../contract/verdict.ts";

/** Judges by one set of rules. */
export type JudgeNow = (question: PolicyQuestion) => Decision;

/** Sets that stay compiled. A stream of lines seldom uses more than a few, and one that never repeats must not fill the memory. */
const KEPT_SETS = 256;

/** Compiled sets of rules by their text. */
export type RuleSets = {
  /** Rejects with ToolFault `policy.bad_rule`. */
  judgeFor: (rules: RuleLists) => Promise<JudgeNow>;
};

/** Compiles each set of rules once and keeps those that were used last. */
export function createRuleSets(): RuleSets {
  const kept = new Map<string, { policy: CompiledPolicy; judge: JudgeNow }>();
  return {
    judgeFor: async (rules) => {
      const key = JSON.stringify(rules);
      const known = kept.get(key);
      if (known) {
        kept.delete(key);
        kept.set(key, known);
        return known.judge;
      }
      const made = await compilePolicy(rules);
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
