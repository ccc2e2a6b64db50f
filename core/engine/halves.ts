/**
 * A core module is in two halves: `first` has what a start needs, `rest` all functions (wasm/parts/halves.ts). The rest is compiled and
 * linked when `first` calls a function that it has no body for.
 */

type Exports = WebAssembly.Instance["exports"];

type Imports = NonNullable<Parameters<typeof WebAssembly.instantiate>[1]>;

/** Names under which the halves share things. Mirror: `wasm/parts/halves.ts`. */
const FROM = "first";
const LATE = "shared:late";

/** A module whose one export is the function that it imports: only functions of modules can stand in a table. */
const WRAPPER = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
  ...[1, 4, 1, 0x60, 0, 0],
  ...[2, 7, 1, 1, 0x68, 1, 0x66, 0, 0],
  ...[7, 5, 1, 1, 0x66, 0, 0],
);

/**
 * Ties the rest to an instance of a first half, which had these imports; an instance of a whole module is left as it is. `rest` gives
 * the other half. Where it can't be had, the call that needed it ends as by a trap: the component's memory is in any state then.
 */
export function linkRest(first: Exports, imports: Imports, rest: () => WebAssembly.Module): void {
  const late = first[LATE];
  if (!(late instanceof WebAssembly.Table)) return;
  const bringUp = () => {
    try {
      new WebAssembly.Instance(rest(), { ...imports, [FROM]: first });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new WebAssembly.RuntimeError(`The other half of a component can't be loaded: ${why}`);
    }
  };
  late.set(0, new WebAssembly.Instance(new WebAssembly.Module(WRAPPER), { h: { f: bringUp } }).exports["f"]);
}
