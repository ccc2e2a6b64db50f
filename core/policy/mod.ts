/** The policy engine as a tool of its own: questions without calls. */
export { type CheckAnswer, type CheckBasis, decideLine } from "./check.ts";
export { type CheckStream, openCheckStream } from "./check_stream.ts";
export { type CheckLine, type CheckSubject, readCheckLine } from "./check_line.ts";
export { openCheckBasis, type OpenedBasis } from "./basis.ts";
export { distrustWorkspace, type TrustChange, trustWorkspace } from "./trust.ts";
export { type Finding, lintSettings } from "./lint.ts";
export { type Change, readPolicyFile, replayLog, type Replayed } from "./replay.ts";
export { readTestLines, runExpectation, type Expectation } from "./expectations.ts";
export { type Proposed, type RuleProposal, suggestRules } from "./suggest.ts";
export { subjectOf } from "./subject.ts";
export { createRuleSets, type RuleSets } from "./rule_sets.ts";
