/**
 * Stamps that make one stage's type unusable as another's. The symbol is not exported, so no object literal anywhere can
 * have the stamp; each maker file casts once, and `test/gates` refuses such a cast in any other file.
 */
declare const stage: unique symbol;

/** Marks a type as the product of the stage `S`. Exists for the compiler only. */
export type Stamp<S extends string> = { readonly [stage]: S };
