/** A function of a core module that takes and gives numbers only: the canonical ABI hands them over as they are. */
export type CoreFunction = (...numbers: number[]) => number;

/**
 * The functions of a component that are called too often for jco's wrappers, which keep a record of each call: 2 µs at best,
 * and 100 µs for the first hundreds. `names` are their names in the canonical ABI. Throws if the module has no such function.
 */
export function coreFunctions<Key extends string>(
  exports: WebAssembly.Instance["exports"],
  names: Readonly<Record<Key, string>>,
): Record<Key, CoreFunction> {
  const found = Object.entries<string>(names).map(([key, name]) => [key, coreFunction(exports, name)]);
  // Object.fromEntries widens the keys; they are those of `names`.
  return Object.fromEntries(found) as Record<Key, CoreFunction>;
}

function coreFunction(exports: WebAssembly.Instance["exports"], name: string): CoreFunction {
  const found = exports[name];
  if (typeof found !== "function") throw new Error(`Cannot use a component: its module exports no "${name}"`);
  // The type of exports says no more than Function; that it takes and gives numbers stands in the WIT file.
  return found as CoreFunction;
}
