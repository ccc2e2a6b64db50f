/** `NAME.core.wasm` → first halves and `NAME.rest.wasm`, which are what the executable has: see halves.ts. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashInputs, isFresh, type Made, ROOT, writeStamp } from "../../cli/build/cache.ts";
import type { StepEnd } from "../../cli/build/progress.ts";
import { halvesOf, withMarks, withMemory } from "./halves.ts";
import { beginPolicy, type Exports, rehearsePatterns, rehearsePolicy, rehearseWords } from "./rehearse.ts";

/** Components whose modules are split. */
export type SplitName = "policy" | "search";

/** What is rehearsed for each first half, by its name. */
const REHEARSALS: Readonly<Record<SplitName, Record<string, (module: WebAssembly.Module) => Promise<Exports>>>> = {
  policy: { "policy.first": rehearsePolicy },
  search: { "search.first": rehearsePatterns, "search.words": rehearseWords },
};

/** Splits the module of a component, if it or what is rehearsed has changed. */
export async function splitComponent(name: SplitName): Promise<StepEnd> {
  const made = whatIsMade(name);
  if (isFresh(made)) return { state: "fresh" };
  const inputs = hashInputs(made);
  const module = readFileSync(generated(`${name}.core`));
  const { marked, marks } = withMarks(module);
  const names = Object.keys(REHEARSALS[name]);
  const early: boolean[][] = [];
  for (const rehearse of Object.values(REHEARSALS[name])) {
    const exports = await rehearse(new WebAssembly.Module(marked));
    early.push(marks.map((mark) => isSet(exports[mark])));
  }
  const begun = await begunWith(name, module);
  const { firsts, rest } = halvesOf(begun, early);
  for (const [place, first] of firsts.entries()) writeFileSync(generated(names[place] ?? ""), first);
  writeFileSync(generated(`${name}.rest`), rest);
  writeFileSync(generated(`${name}.whole`), begun);
  writeStamp(made, inputs);
  const sizes = names.map((one) => `${Math.round(statSync(generated(one)).size / 1024)} KB`);
  return { state: "built", note: `${sizes.join(" or ")} to start with` };
}

function isSet(mark: unknown): boolean {
  return mark instanceof WebAssembly.Global && mark.value === 1;
}

/** The module with what its memory begins with, where that is more than what its compiler put there. */
async function begunWith(name: SplitName, module: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  if (name !== "policy") return module;
  const { memory } = await beginPolicy(new WebAssembly.Module(module));
  return withMemory(module, new Uint8Array(memory.buffer));
}

function generated(module: string): string {
  return join(ROOT, "core", "engine", "generated", `${module}.wasm`);
}

function whatIsMade(name: SplitName): Made {
  const engine = "core/engine/generated";
  const parts = [...Object.keys(REHEARSALS[name]), `${name}.rest`, `${name}.whole`];
  return {
    step: `wasm_${name}_halves`,
    inputs: [`${engine}/${name}.core.wasm`, "wasm/parts", "core/config", "core/engine", "core/exec/search"],
    facts: [Bun.version],
    outputs: parts.map((part) => `${engine}/${part}.wasm`),
  };
}
