import { isWithin } from "../../config/path_order.ts";
import type { Bound, Grant, GrantTerms, Suggestion } from "../../contract/approval.ts";
import type { Place } from "../../contract/tool.ts";
import type { Decision, RuleSource } from "../../contract/verdict.ts";
import type { GrantsFile } from "../../store/grants_file.ts";
import { maskText } from "../../store/mask.ts";

/** An exact approval of this call: the digest of its words, and what its words lead to. */
export type ExactCall = { key: string; bound?: Bound };

/** What is to be saved. `suggestion` is what the person was shown; `by` says at which door. */
export type NewGrant = { suggestion: Suggestion; terms: GrantTerms; exact: ExactCall; by: string };

/**
 * The approvals in force here: those of this process and those of the file. Methods throw the file's ToolFaults.
 */
export type ApprovalBook = {
  /** Allow rules of approvals, each with its id as origin. */
  rules: () => RuleSource[];
  /** Approvals of exactly this call, changed programs and all. */
  exact: (key: string) => Grant[];
  /** Takes one use of each; false, and none is taken, when one has none left or is not in force any more. */
  use: (ids: readonly string[]) => boolean;
  save: (made: NewGrant) => Grant;
};

/** What the book needs: the file, the places, and the time in milliseconds since the epoch. */
export type BookParts = { file: GrantsFile; place: Place; now: () => number; newId: () => string };

/** The layer of rules that come from approvals. */
const LAYER = "grant";
const ORIGIN = "approval ";

/** Makes the book. Nothing is read yet. */
export function createApprovalBook({ file, place, now, newId }: BookParts): ApprovalBook {
  let session: Grant[] = [];
  const holds = (grant: Grant) => isInForce(grant, place, now());
  const inForce = () => [...session, ...file.read()].filter(holds);
  return {
    rules: () =>
      inForce().flatMap(({ id, rules = [] }) =>
        rules.map((rule) => ({ rule, layer: LAYER, origin: `${ORIGIN}${id}` })),
      ),
    exact: (key) => inForce().filter((grant) => grant.exact === key),
    use: (ids) => {
      const all = inForce().filter(({ id }) => ids.includes(id));
      if (all.length < new Set(ids).size) return false;
      if (all.every(({ usesLeft }) => usesLeft === undefined)) return true;
      return takeUses(ids, { file, holds, session: (edit) => (session = edit(session)) });
    },
    save: (made) => {
      const grant = grantOf(made, { id: newId(), madeAt: now(), workspace: place.workspace });
      if (grant.scope === "session") session.push(grant);
      else file.change((stored) => [...stored.filter((old) => !isOver(old, now())), grant]);
      return grant;
    },
  };
}

/** The ids of the approvals that a decision rests on. */
export function grantsUsedBy({ trace }: Decision): string[] {
  const ids = trace.flatMap(({ rule }) => (rule?.layer === LAYER ? [rule.origin.slice(ORIGIN.length)] : []));
  return [...new Set(ids)];
}

/** Whether it holds for calls made here and now. */
export function isInForce(grant: Grant, { cwd, workspace }: Place, now: number): boolean {
  if (isOver(grant, now)) return false;
  if (grant.scope === "project" && grant.workspace !== workspace) return false;
  return grant.folder === undefined || isWithin(cwd, grant.folder);
}

/** Whether its time or its uses are over. A clock that was set back makes nothing good again that was never made yet. */
export function isOver({ expiresAt, usesLeft, madeAt }: Grant, now: number): boolean {
  if (usesLeft !== undefined && usesLeft <= 0) return true;
  return expiresAt !== undefined && (now >= expiresAt || now < madeAt);
}

type Stores = {
  file: GrantsFile;
  holds: (grant: Grant) => boolean;
  session: (edit: (own: Grant[]) => Grant[]) => void;
};

/** Under the lock of the file: two processes do not take the last use both. */
function takeUses(ids: readonly string[], { file, holds, session }: Stores): boolean {
  const isCounted = (grant: Grant) => ids.includes(grant.id) && grant.usesLeft !== undefined;
  const taken = (grants: readonly Grant[]) =>
    grants.map((grant) => (isCounted(grant) ? { ...grant, usesLeft: (grant.usesLeft ?? 0) - 1 } : grant));
  let enough = true;
  if (file.read().some(isCounted)) {
    file.change((stored) => {
      enough = stored.filter(isCounted).every(holds) && stored.some(isCounted);
      return enough ? taken(stored) : stored;
    });
  }
  if (enough) session((own) => [...taken(own)]);
  return enough;
}

function grantOf(
  { suggestion, terms, exact, by }: NewGrant,
  made: { id: string; madeAt: number; workspace: string },
): Grant {
  const { scope = "project", forMs, uses } = terms;
  const what =
    suggestion.rules.length > 0
      ? { rules: suggestion.rules }
      : { exact: exact.key, ...(exact.bound ? { bound: exact.bound } : {}) };
  return {
    id: made.id,
    ...what,
    shows: maskText(suggestion.shows),
    scope,
    ...(scope === "project" ? { workspace: made.workspace } : {}),
    madeAt: made.madeAt,
    ...(forMs === undefined ? {} : { expiresAt: made.madeAt + forMs }),
    ...(uses === undefined ? {} : { usesLeft: uses }),
    by,
  };
}
