import type { LimitedFolder, NamedPlace } from "../contract/sandbox_policy.ts";
import type { SandboxRequest } from "../contract/sandbox_request.ts";
import type { Surveyed } from "../contract/survey.ts";
import { fixedFolder, globIn, isGlob } from "../config/globs.ts";

/** One value of a flag, and whether anything stands there. */
export type Named = { place: NamedPlace; exists: boolean };

/** The path flags of a request, told apart into places and patterns. */
export type NamedPlaces = Record<"allowRead" | "allowWrite" | "denyRead" | "denyWrite", Named[]> & {
  limited: LimitedFolder[];
};

/** Tells places and patterns apart: what exists by its literal name is a place. `found` gives what exists. */
export function namedPlaces(request: SandboxRequest, found: (path: string) => Surveyed | undefined): NamedPlaces {
  const named = (value: string): Named => {
    const there = found(value);
    if (there) return { place: { path: there.real }, exists: true };
    if (!isGlob(value)) return { place: { path: value }, exists: false };
    const folder = fixedFolder(value);
    return { place: { glob: globIn(value, found(folder)?.real ?? folder) }, exists: false };
  };
  const limitedBy = (values: readonly string[], access: "read" | "write"): LimitedFolder[] => {
    const roots = new Map<string, string[]>();
    for (const value of values) {
      const folder = found(value) || !isGlob(value) ? undefined : found(fixedFolder(value));
      if (folder) roots.set(folder.real, [...(roots.get(folder.real) ?? []), globIn(value, folder.real)]);
    }
    return [...roots].map(([root, globs]) => ({ root, globs, access }));
  };
  const { allowRead, allowWrite, denyRead, denyWrite } = request;
  return {
    allowRead: allowRead.map(named),
    allowWrite: allowWrite.map(named),
    denyRead: denyRead.map(named),
    denyWrite: denyWrite.map(named),
    limited: [...limitedBy(allowWrite, "write"), ...limitedBy(allowRead, "read")],
  };
}
