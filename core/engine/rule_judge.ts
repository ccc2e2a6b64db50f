import { type Decision, NO_RULES, type PolicyQuestion, type RuleLists, type RuleSource } from "../contract/verdict.ts";
import { badRules } from "./bad_rules.ts";
import type { CompiledPolicy, PolicyCompiled } from "./policy.ts";

/** Decisions under the rules of the files and, with each question, the rules of approvals that hold at that moment. */
export type RuleJudge = {
  judge: (question: PolicyQuestion, approved: readonly RuleSource[]) => Promise<Decision>;
  /** Compiles the rules of the files now. Rejects with ToolFault `policy.bad_rule`. */
  check: () => Promise<void>;
  /** Decisions without approvals and without waiting, for a caller that judges thousands of paths in a row. */
  now: () => Promise<(question: PolicyQuestion) => Decision>;
};

type Compiled = { decide: (question: PolicyQuestion) => Decision; release: () => Promise<void> };

/**
 * The policy component is compiled, and the rules are checked, at the first question that needs them. `fixed` are rules that never change and
 * come before the others of each list.
 */
export function createRuleJudge(rules: () => RuleLists, fixed: RuleLists = NO_RULES): RuleJudge {
  let own: Promise<Compiled> | undefined;
  let approvedNow: { key: string; compiled: Promise<Compiled> } | undefined;
  const base = () => {
    own ??= compile(rules(), fixed);
    return own;
  };
  const withApproved = (approved: readonly RuleSource[]) => {
    if (approved.length === 0) return base();
    const key = JSON.stringify(approved);
    if (approvedNow?.key !== key) {
      // Freed after the questions that wait for it, which are asked of it in the same turn that it is compiled in.
      const old = approvedNow;
      const lists = rules();
      approvedNow = { key, compiled: compile({ ...lists, allow: [...lists.allow, ...approved] }, fixed) };
      void old?.compiled.then((set) => Bun.sleep(RELEASE_MS).then(set.release)).catch(() => {});
    }
    return approvedNow.compiled;
  };
  return {
    judge: async (question, approved) => (await withApproved(approved)).decide(question),
    check: async () => {
      await base();
    },
    now: async () => (await base()).decide,
  };
}

/** Long after any question that was under way. */
const RELEASE_MS = 1000;

async function compile(lists: RuleLists, fixed: RuleLists): Promise<Compiled> {
  const { compileFixed, compilePolicy, decider, releasePolicy } = await import("./policy.ts");
  const base = sound(await compileFixed(fixed));
  const policy = sound(await compilePolicy(lists, base));
  // The other set keeps what it needs of it.
  await releasePolicy(base);
  return { decide: await decider(policy), release: () => releasePolicy(policy) };
}

function sound(made: PolicyCompiled): CompiledPolicy {
  if (made.ok) return made.policy;
  throw badRules(made.faults);
}
