import type { Effect, PolicyQuestion } from "../contract/verdict.ts";

/** What stands in the place of a secret. */
const MASK = "«secret»";

/** Names whose value is a secret: `--token=…`, `API_KEY=…`, `password: …`. */
const SECRET_NAME =
  /((?:[\w-]*(?:token|secret|passw(?:or)?d|passwd|pwd|api[_-]?key|access[_-]?key|private[_-]?key|credential|auth|cookie|session)[\w-]*)["']?\s*(?:=|:\s?|\s+))(?!\s)("[^"]*"|'[^']*'|[^\s"';&|<>]+)/gi;

/** Words of known issuers and shapes, and user names with passwords in addresses. */
const SECRET_WORDS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_](?:live|test|ant|proj)?[-_A-Za-z0-9]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{16,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bglpat-[\w-]{16,}/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[0-9A-Z]{12,}/g,
  /\bAIza[\w-]{20,}/g,
  /\bnpm_[A-Za-z0-9]{20,}/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/gi,
];

/** `user:password@` of an address. */
const IN_ADDRESS = /(\b[a-z][a-z0-9+.-]*:\/\/)[^/\s:@]*:[^/\s@]+@/gi;

/** `-u user:password` of curl, `-p…` of mysql. */
const IN_OPTION = /((?:^|\s)(?:-u|--user|--proxy-user)[= ]\s*["']?[^\s:"']*:)[^\s"']+/g;

/** Long runs of mixed letters and digits have the look of keys. A name in a path stands between slashes, so none is taken along. */
const RANDOM_WORD =
  /\b(?=[A-Za-z0-9+_-]*[0-9])(?=[A-Za-z0-9+_-]*[A-Z])(?=[A-Za-z0-9+_-]*[a-z])[A-Za-z0-9+_-]{24,}={0,2}/g;

/**
 * The question that was decided, for the log: every word that has the look of a secret is masked. It errs on the side of masking;
 * a secret that looks like an ordinary word can't be told, which is why commands are logged only on demand.
 */
export function maskSecrets(question: PolicyQuestion): PolicyQuestion {
  const params = Object.entries(question.params).flatMap(([name, value]) =>
    isContent(name) ? [] : [[name, maskedParam(name, value)]],
  );
  return { ...question, effects: question.effects.map(maskedEffect), params: Object.fromEntries(params) };
}

/** Contents of files are no part of any decision. */
function isContent(name: string): boolean {
  return ["content", "old_string", "new_string", "pattern"].includes(name);
}

function maskedParam(name: string, value: string): string {
  return maskText(`${name}=x`) === `${name}=x` ? maskText(value) : MASK;
}

function maskedEffect(effect: Effect): Effect {
  const entries = Object.entries(effect).map(([key, value]) => [
    key,
    typeof value === "string" && key !== "kind" ? maskText(value) : value,
  ]);
  // The same keys with the same kinds of values.
  return Object.fromEntries(entries) as Effect;
}

/** Masks what looks like a secret in a text. Never throws. */
export function maskText(text: string): string {
  const shaped = [...SECRET_WORDS, RANDOM_WORD].reduce((masked, shape) => masked.replace(shape, MASK), text);
  return shaped.replace(SECRET_NAME, `$1${MASK}`).replace(IN_ADDRESS, `$1${MASK}@`).replace(IN_OPTION, `$1${MASK}`);
}
