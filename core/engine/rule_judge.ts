import type { Decision, PolicyQuestion, RuleLists, RuleSource } from "../contract/verdict.ts";
import { badRules } from "./bad_rules.ts";

/** Decisions under the rules of the files and, with each question, the rules of approvals that hold at that moment. */
export type RuleJudge = {
  judge: (question: PolicyQuestion, approved: readonly RuleSource[]) => Promise<Decision>;
  /** Compiles the rules of the files now. Rejects with ToolFault `policy.bad_rule`. */
  check: () => Promise<void>;
  /** Decisions without approvals and without waiting, for a caller that judges thousands of paths in a row. */
  now: () => Promise<(question: PolicyQuestion) => Decision>;
};

type Compiled = { decide: (question: PolicyQuestion) => Decision; release: () => Promise<void> };

/** The policy component is compiled, and the rules are checked, at the first question that needs them. */
export function createRuleJudge(rules: () => RuleLists): RuleJudge {
  let own: Promise<Compiled> | undefined;
  let approvedNow: { key: string; compiled: Promise<Compiled> } | undefined;
  const base = () => {
    own ??= compile(rules());
    return own;
  };
  const withApproved = (approved: readonly RuleSource[]) => {
    if (approved.length === 0) return base();
    const key = JSON.stringify(approved);
    if (approvedNow?.key !== key) {
      // Freed after the questions that wait for it, which are asked of it in the same turn that it is compiled in.
      const old = approvedNow;
      const lists = rules();
      approvedNow = { key, compiled: compile({ ...lists, allow: [...lists.allow, ...approved] }) };
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

async function compile(lists: RuleLists): Promise<Compiled> {
  const { compilePolicy, decider, releasePolicy } = await import("./policy.ts");
  const made = await compilePolicy(lists);
  if (!made.ok) throw badRules(made.faults);
  const { policy } = made;
  return { decide: await decider(policy), release: () => releasePolicy(policy) };
}
