import { entriesOf, find, KIND, Reader, SECTION, type Section } from "./sections.ts";

/** The type of a function: only how many numbers it takes is of interest here, beside the type's place in the module. */
export type FunctionType = { type: number; parameters: number };

/** A function with a body of its own. `number` counts imported ones too. */
export type OwnFunction = FunctionType & { number: number; body: Uint8Array };

/** The functions that a module has a body for, in their order. */
export function ownFunctions(sections: readonly Section[]): OwnFunction[] {
  const parameters = parameterCounts(sections);
  const declared = new Reader(find(sections, SECTION.function) ?? new Uint8Array(1));
  const code = new Reader(find(sections, SECTION.code) ?? new Uint8Array(1));
  const imported = importsOf(sections, KIND.function);
  const count = declared.number();
  if (code.number() !== count) throw new RangeError("A WebAssembly module has not as many bodies as functions");
  return Array.from({ length: count }, (_, place) => {
    const type = declared.number();
    return { type, parameters: parameters[type] ?? 0, number: imported + place, body: code.take(code.number()) };
  });
}

/** For each type of a function how many numbers it takes. */
function parameterCounts(sections: readonly Section[]): number[] {
  const reader = new Reader(find(sections, SECTION.type) ?? new Uint8Array(1));
  return Array.from({ length: reader.number() }, () => {
    // rustc makes no other types; each value is named by one byte.
    if (reader.byte() !== 0x60) throw new RangeError("A WebAssembly module has a type that is no plain function");
    const parameters = reader.take(reader.number()).length;
    reader.take(reader.number());
    return parameters;
  });
}

/** How many imports of a kind there are. Only functions are understood. */
export function importsOf(sections: readonly Section[], kind: number): number {
  const { count, bytes } = entriesOf(find(sections, SECTION.import));
  const reader = new Reader(bytes);
  let found = 0;
  for (let entry = 0; entry < count; entry++) {
    reader.take(reader.number());
    reader.take(reader.number());
    const is = reader.byte();
    if (is !== KIND.function) throw new RangeError("A component's core module imports something that is no function");
    reader.number();
    if (is === kind) found += 1;
  }
  return found;
}

/** The types of the module's own globals: the value's and whether it may change, a byte each. */
export function globalTypes(sections: readonly Section[]): Uint8Array[] {
  const reader = new Reader(find(sections, SECTION.global) ?? new Uint8Array(1));
  return Array.from({ length: reader.number() }, () => {
    const type = reader.take(2);
    // Constant expressions of rustc are one `i32.const`.
    if (reader.byte() !== 0x41) throw new RangeError("A global of a WebAssembly module begins with no plain number");
    while (reader.byte() >= 0x80);
    if (reader.byte() !== 0x0b) throw new RangeError("A global of a WebAssembly module begins with no plain number");
    return type;
  });
}

/** Where the code of a body begins, after its local variables. */
export function codeStart(body: Uint8Array): number {
  const reader = new Reader(body);
  for (let left = reader.number(); left > 0; left--) {
    reader.number();
    reader.byte();
  }
  return reader.at;
}
