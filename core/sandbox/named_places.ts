import type { LimitedFolder, NamedPlace } from "../contract/sandbox_policy.ts";
import type { SandboxRequest } from "../contract/sandbox_request.ts";
import type { Surveyed } from "../contract/survey.ts";
import { closedBy } from "./closed_by.ts";
import { fixedFolder, globIn, isGlob } from "../config/globs.ts";

/** One value of a flag or setting, who gave it, and whether anything stands there. */
export type Named = { place: NamedPlace; exists: boolean; by: string };

/** The path flags of a request, told apart into places and patterns. */
export type NamedPlaces = Record<"allowRead" | "allowWrite" | "denyRead" | "denyWrite", Named[]> & {
  limited: LimitedFolder[];
};

/** Tells places and patterns apart: what exists by its literal name is a place. `found` gives what exists. */
export function namedPlaces(request: SandboxRequest, found: (path: string) => Surveyed | undefined): NamedPlaces {
  const placed = (value: string): Omit<Named, "by"> => {
    const there = found(value);
    if (there) return { place: { path: there.real }, exists: true };
    if (!isGlob(value)) return { place: { path: value }, exists: false };
    const folder = fixedFolder(value);
    return { place: { glob: globIn(value, found(folder)?.real ?? folder) }, exists: false };
  };
  const named =
    (flag: string) =>
    (value: string): Named => ({ ...placed(value), by: flag });
  const closed =
    (list: "denyRead" | "denyWrite") =>
    (value: string): Named => ({
      ...placed(value),
      by: closedBy(request, list, value),
    });
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
    allowRead: allowRead.map(named("--allow-read")),
    allowWrite: allowWrite.map(named("--allow-write")),
    denyRead: denyRead.map(closed("denyRead")),
    denyWrite: denyWrite.map(closed("denyWrite")),
    limited: [...limitedBy(allowWrite, "write"), ...limitedBy(allowRead, "read")],
  };
}
