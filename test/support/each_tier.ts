import { afterAll, describe, test } from "bun:test";
import type { Surroundings } from "./run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "./scratch.ts";
import { findCell, OWN_CELLS } from "./tiers.ts";

/** A scratch folder with the surroundings that give one tier. */
export type TierPlace = { scratch: Scratch; around: Surroundings; tier: "namespaces" | "landlock" };

/** Describes the same tests with and without user namespaces; a tier that this machine can't give is skipped with the reason. */
export function describeEachTier(tests: (place: TierPlace) => void): void {
  for (const cell of OWN_CELLS) {
    const found = findCell(cell);
    const title = `${cell.namespaces} user namespaces`;
    if (!found.found) {
      test.skip(`${title}: ${found.why}`, () => {});
      continue;
    }
    describe(title, () => {
      const scratch = makeScratch();
      afterAll(() => removeScratch(scratch));
      const tier = cell.namespaces === "with" ? "namespaces" : "landlock";
      tests({ scratch, around: { scratch, wrap: found.wrap }, tier });
    });
  }
}
