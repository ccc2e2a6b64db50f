/**
 * A file that a command runs, as it was when somebody approved it. `word` is how the command names it, "program" was looked up in
 * PATH, "script" is given to an interpreter. `mark` is inode, size and times; `digest` is the SHA-256 of a script, and of any
 * program that does not belong to the system.
 */
export type FileMark = { word: string; as: "program" | "script"; path: string; mark: string; digest?: string };

/** What an exact approval is about besides the call's words: every program and script that the command names, and where. */
export type Bound = { cwd: string; searchPath: string; files: readonly FileMark[] };

/** How long a saved approval is good, and where. */
export type GrantScope = "session" | "project" | "user";

/**
 * A saved approval. Exactly one of `rules` and `exact` is there: allow rules, or the digest of the one call with what it is
 * bound to. `shows` is what the person was shown. Times are milliseconds since the epoch. `workspace` is the folder of a grant
 * with scope "project"; `folder` narrows any grant to calls made in or below it.
 */
export type Grant = {
  id: string;
  rules?: readonly string[];
  exact?: string;
  bound?: Bound;
  shows: string;
  scope: GrantScope;
  workspace?: string;
  folder?: string;
  madeAt: number;
  expiresAt?: number;
  usesLeft?: number;
  by: string;
};

/**
 * One thing that "session" or "always" could save, from narrow to broad. `rule` names it in an answer; `rules` are the allow
 * rules that it stands for, none for exactly this call.
 */
export type Suggestion = { rule: string; rules: readonly string[]; shows: string };

/** What a person chose to save: one suggestion with where, how long and how often it holds. */
export type GrantTerms = { rule?: string; scope?: GrantScope; forMs?: number; uses?: number };
