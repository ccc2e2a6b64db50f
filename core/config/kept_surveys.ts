/** Surveys that are used again in a process that lasts, as long as all that they were made from is the same. */
import type { LookAtPlaces, Survey } from "../contract/survey.ts";
import { type Looks, lookedAt, stillHolds } from "./look.ts";

/** Calls of one session ask for the same paths; a few differ in what they narrow. */
const MOST_KEPT = 8;

/**
 * Makes `survey` look again only where something changed: as for the plans of `cordon run` (core/adr/0007-run-becomes-the-launcher.md),
 * each name that it looked at is compared, and each folder and file that it read. A fifth of the time of a survey.
 */
export function keepSurveys(survey: LookAtPlaces): LookAtPlaces {
  const kept = new Map<string, { made: Survey; looks: Looks }>();
  return (paths, rules = []) => {
    const key = [...paths, ...rules.map((rule) => JSON.stringify(rule))].join("\0");
    const known = kept.get(key);
    if (known && stillHolds(known.looks)) return known.made;
    kept.delete(key);
    const { value: made, looks } = lookedAt(() => survey(paths, rules));
    if (looks?.settled) {
      const [oldest] = kept.keys();
      if (kept.size >= MOST_KEPT && oldest !== undefined) kept.delete(oldest);
      kept.set(key, { made, looks });
    }
    return made;
  };
}
