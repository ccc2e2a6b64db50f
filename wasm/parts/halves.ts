/**
 * One core module as two. JavaScriptCore validates all of a module before it runs the first function, and a start needs a fraction of
 * them: `first` has the bodies of those, and short ones for all others; `rest` has all of them again. Both work in one memory, one table and one
 * stack. The first call of a function that `first` has no body for brings `rest` up. `core/adr/0019-start-of-searches.md` has the reasons.
 */
import { codeStart, globalTypes, type OwnFunction, ownFunctions } from "./functions.ts";
import {
  type Bytes,
  bytesOf,
  entriesOf,
  extended,
  find,
  KIND,
  moduleOf,
  name,
  number,
  replaced,
  SECTION,
  type Section,
  sectionsOf,
  signed,
} from "./sections.ts";

/** Names under which the halves share what they have in common. Mirror: `core/engine/halves.ts`. */
const SHARED = { from: "first", table: "shared:table", late: "shared:late", memory: "memory", global: "shared:global" };

/** Operations of the format. */
const OP = {
  if: 0x04,
  end: 0x0b,
  callIndirect: 0x11,
  localGet: 0x20,
  globalSet: 0x24,
  tableGet: 0x25,
  i32Const: 0x41,
  refIsNull: 0xd1,
} as const;

const I32 = 0x7f;
const FUNCREF = 0x70;
const NO_RESULT = 0x40;

/** The table of the functions of `rest`. Its first place has what brings `rest` up. */
const LATE_TABLE = 1;

/** Linear memory is counted in pages of this many bytes. */
const PAGE_BYTES = 65536;

/** Bytes between two stretches of data that are written along: the head of a stretch takes about as many. */
const GAP_BYTES = 12;

/** The module with a mark for each function, set when it is called, and the names of the marks' globals in the order of the functions. */
export function withMarks(module: Uint8Array): { marked: Uint8Array<ArrayBuffer>; marks: string[] } {
  const sections = sectionsOf(module);
  const functions = ownFunctions(sections);
  const first = globalTypes(sections).length;
  const marks = functions.map((_, place) => `mark:${place}`);
  const bodies = functions.map(({ body }, place) => {
    const start = codeStart(body);
    const mark = [OP.i32Const, 1, OP.globalSet, ...number(first + place)];
    return bytesOf([body.subarray(0, start), ...mark, body.subarray(start)]);
  });
  const globals = functions.map(() => [I32, 1, OP.i32Const, 0, OP.end]);
  const exports = marks.map((mark, place) => [...name(mark), KIND.global, ...number(first + place)]);
  const marked = replaced(sections, {
    [SECTION.global]: extended(find(sections, SECTION.global), globals),
    [SECTION.export]: extended(find(sections, SECTION.export), exports),
    [SECTION.code]: codeOf(bodies),
  });
  return { marked: moduleOf(marked), marks };
}

/** The module with another content of linear memory to begin with, in place of its data. */
export function withMemory(module: Uint8Array, memory: Uint8Array): Uint8Array<ArrayBuffer> {
  return moduleOf(replaced(sectionsOf(module), memorySections(memory)));
}

/**
 * First halves, one for each list of what it has by the place of the function, and the rest, which is the same for all.
 */
export function halvesOf(module: Uint8Array, early: readonly (readonly boolean[])[]) {
  const sections = sectionsOf(module);
  const functions = ownFunctions(sections);
  return { firsts: early.map((isEarly) => firstOf(sections, functions, isEarly)), rest: restOf(sections, functions) };
}

function firstOf(sections: readonly Section[], functions: readonly OwnFunction[], isEarly: readonly boolean[]) {
  const types = entriesOf(find(sections, SECTION.type)).count;
  const bodies = functions.map((one, place) => (isEarly[place] ? one.body : lateBody(one, place + 1, types)));
  const globals = globalTypes(sections).map((_, place) => [...globalName(place), KIND.global, ...number(place)]);
  const exports = [[...name(SHARED.table), KIND.table, 0], [...name(SHARED.late), KIND.table, LATE_TABLE], ...globals];
  return moduleOf(
    replaced(sections, {
      [SECTION.type]: extended(find(sections, SECTION.type), [[0x60, 0, 0]]),
      [SECTION.table]: extended(find(sections, SECTION.table), [[FUNCREF, 0, ...number(functions.length + 1)]]),
      [SECTION.export]: extended(find(sections, SECTION.export), exports),
      [SECTION.code]: codeOf(bodies),
    }),
  );
}

/** Brings the rest up if it is not there, then calls the function of the same number in it. */
function lateBody({ type, parameters }: OwnFunction, slot: number, nothing: number): Uint8Array {
  const place = [OP.i32Const, ...signed(slot)];
  const bringUp = [OP.i32Const, 0, OP.callIndirect, ...number(nothing), LATE_TABLE];
  const isMissing = [...place, OP.tableGet, LATE_TABLE, OP.refIsNull];
  const given = Array.from({ length: parameters }, (_, local) => [OP.localGet, ...number(local)]).flat();
  const call = [...given, ...place, OP.callIndirect, ...number(type), LATE_TABLE, OP.end];
  return bytesOf([0, ...isMissing, OP.if, NO_RESULT, ...bringUp, OP.end, ...call]);
}

function restOf(sections: readonly Section[], functions: readonly OwnFunction[]) {
  const shared = (what: string, kind: number, type: readonly (number | Uint8Array)[]) => [
    ...name(SHARED.from),
    ...name(what),
    kind,
    ...type,
  ];
  // The least that an import asks of what it gets is nothing.
  const imports: Bytes[] = [
    shared(SHARED.memory, KIND.memory, [0, 0]),
    shared(SHARED.table, KIND.table, [FUNCREF, 0, 0]),
    shared(SHARED.late, KIND.table, [FUNCREF, 0, 0]),
    ...globalTypes(sections).map((type, place) => [...name(SHARED.from), ...globalName(place), KIND.global, type]),
  ];
  const numbers = functions.flatMap((one) => number(one.number));
  const into = [2, LATE_TABLE, OP.i32Const, 1, OP.end, 0, ...number(functions.length), ...numbers];
  return moduleOf(
    replaced(sections, {
      [SECTION.import]: extended(find(sections, SECTION.import), imports),
      [SECTION.table]: undefined,
      [SECTION.memory]: undefined,
      [SECTION.global]: undefined,
      [SECTION.export]: undefined,
      [SECTION.element]: extended(find(sections, SECTION.element), [into]),
      // Both are in the memory that it gets.
      [SECTION.data]: undefined,
      [SECTION.dataCount]: undefined,
    }),
  );
}

function globalName(place: number): number[] {
  return name(`${SHARED.global}${place}`);
}

function codeOf(bodies: readonly Uint8Array[]): Bytes {
  return [...number(bodies.length), ...bodies.flatMap((body) => [...number(body.length), body])];
}

/** The memory's least size and its data, from what is in it. Nothing takes data by number: rustc's code copies none in later. */
function memorySections(memory: Uint8Array): Record<number, Bytes | undefined> {
  const stretches = [...stretchesOf(memory)].map(({ start, end }) => {
    const bytes = memory.subarray(start, end);
    return [0, OP.i32Const, ...signed(start), OP.end, ...number(bytes.length), bytes];
  });
  return {
    [SECTION.memory]: [1, 0, ...number(memory.length / PAGE_BYTES)],
    [SECTION.data]: [...number(stretches.length), ...stretches.map(bytesOf)],
    [SECTION.dataCount]: undefined,
  };
}

/** The parts of a memory that are not zero. */
function* stretchesOf(memory: Uint8Array): Generator<{ start: number; end: number }> {
  let start = -1;
  let end = -1;
  for (let at = 0; at < memory.length; at++) {
    if (memory[at] === 0) continue;
    if (start >= 0 && at - end > GAP_BYTES) {
      yield { start, end };
      start = -1;
    }
    if (start < 0) start = at;
    end = at + 1;
  }
  if (start >= 0) yield { start, end };
}
