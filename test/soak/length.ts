/** `npm run soak` runs the long forms; `npm test` the short ones. */
export const LONG = process.env.CORDON_SOAK === "long";

/** As many as the form that is run asks for. */
export function times({ short, long }: { short: number; long: number }): number {
  return LONG ? long : short;
}

/** How long a test may take, in milliseconds: much more than it needs, so that only a hang meets it. */
export const PATIENCE_MS = LONG ? 20 * 60_000 : 3 * 60_000;
