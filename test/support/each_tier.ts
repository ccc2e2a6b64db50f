import { afterAll, describe, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Surroundings } from "./run_cordon.ts";
import { giveTo, makeScratch, removeScratch, type Scratch } from "./scratch.ts";
import { CELLS, findCell, OWN_CELLS, sharedCordon } from "./tiers.ts";

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

/** The same for every user too: root, if the tests run as root, and an ordinary one. */
export function describeEachCell(tests: (place: TierPlace) => void): void {
  const shared = mkdtempSync(join(tmpdir(), "e2e-cordon-bin-"));
  const binary = sharedCordon(shared);
  afterAll(() => rmSync(shared, { recursive: true, force: true }));
  for (const cell of CELLS) {
    const found = findCell(cell);
    const title = `as ${cell.user === "root" ? "root" : "an ordinary user"} ${cell.namespaces} user namespaces`;
    if (!found.found) {
      test.skip(`${title}: ${found.why}`, () => {});
      continue;
    }
    describe(title, () => {
      const scratch = makeScratch();
      if (found.uid !== process.geteuid?.()) giveTo(scratch.top, found.uid);
      afterAll(() => removeScratch(scratch));
      const tier = cell.namespaces === "with" ? "namespaces" : "landlock";
      tests({ scratch, around: { scratch, wrap: found.wrap, binary }, tier });
    });
  }
}
