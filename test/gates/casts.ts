/** A stage's type is made in one file; `any` and switched-off checks are made nowhere. */
import ts from "typescript";
import { nodesOf, parse, placeOf, type Source } from "./sources.ts";

/** Who may stamp which stage type. Whoever else casts to one runs a call that skipped a stage. */
export const MAKERS: Record<string, string[]> = {
  ToolRequest: [],
  ValidatedCall: ["core/dispatch/validate.ts"],
  AuthorizedCall: ["core/authorize/authorize.ts"],
  HookedCall: ["core/hooks/run_hooks.ts"],
  PlannedCall: ["core/sandbox/plan_call.ts"],
  Outcome: ["core/exec/execute.ts", "core/contract/refuse.ts"],
  Refused: ["core/contract/refuse.ts"],
  // The audit stage turns a capped outcome into a failure when its row can't be closed.
  CappedOutcome: ["core/output/cap_output.ts", "core/audit/audit.ts"],
  AuditedOutcome: ["core/audit/audit.ts"],
  ToolResult: ["core/dispatch/finish.ts"],
};

const SWITCHED_OFF = /(biome|eslint)-(ignore|disable)|@ts-(ignore|nocheck|expect-error)/;

/** Casts to a stage type outside its maker, `any` in any place, and comments that switch a check off. */
export function castFaults(sources: Source[]): string[] {
  return sources.flatMap((source) => [...nodeFaults(source), ...commentFaults(source)]);
}

function nodeFaults(source: Source): string[] {
  const tree = parse(source);
  return nodesOf(tree).flatMap((node) => {
    const place = placeOf(source, tree, node);
    if (node.kind === ts.SyntaxKind.AnyKeyword) return [`${place}: any`];
    if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return [];
    const stage = stageIn(node.type);
    if (stage === undefined || MAKERS[stage]?.includes(source.path)) return [];
    return [`${place}: cast to ${stage}, whose maker is ${MAKERS[stage]?.join(" or ") || "nobody: it is plain data"}`];
  });
}

/** The stage type named anywhere in a type: `PlannedCall[]` and `Promise<PlannedCall>` are casts to it too. */
function stageIn(type: ts.TypeNode): string | undefined {
  for (const node of nodesOf(type)) {
    if (ts.isIdentifier(node) && Object.hasOwn(MAKERS, node.text)) return node.text;
  }
  return undefined;
}

function commentFaults(source: Source): string[] {
  return source.text.split("\n").flatMap((line, at) => {
    const found = SWITCHED_OFF.exec(line)?.[0];
    const inComment = /(\/\/|\/\*|^\s*\*)/.test(line);
    return found === undefined || !inComment ? [] : [`${source.path}:${at + 1}: ${found} switches a check off`];
  });
}
