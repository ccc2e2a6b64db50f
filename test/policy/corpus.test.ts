/** The labelled commands of corpus/: each attack does what it is said to do when bash really runs it. */
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Attack, AttackScratch, canRun } from "./attack_scratch.ts";

type Case = Attack & {
  rules?: { allow?: string[]; ask?: string[]; deny?: string[] };
  expected: "refused" | "allow" | "deny";
  /** Why an attack is not run here. */
  notRun?: string;
  note?: string;
};

const folder = join(import.meta.dir, "corpus");
const cases: Case[] = readdirSync(folder)
  .toSorted()
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
/** Attacks that run at the same time; most of the time of each is spent waiting for processes to start. */
const LANES = 4;

const attacks = cases.filter(({ id }) => !id.startsWith("harmless") && !id.startsWith("deny"));

describe("corpus of labelled commands", () => {
  test("C14 the corpus is large, its ids are unique, and every attack says what it does or why it is not run", () => {
    expect(cases.length).toBeGreaterThanOrEqual(500);
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    expect(attacks.filter(({ shows, notRun }) => (shows === undefined) === (notRun === undefined))).toEqual([]);
    expect(attacks.filter(({ note }) => note === undefined)).toEqual([]);
    // What can't be shown is the exception.
    expect(attacks.filter(({ shows }) => shows !== undefined).length).toBeGreaterThan(attacks.length * 0.85);
  });

  test("C14 each attack, run by bash among stubs, has the effect that it is labelled with", async () => {
    // Memory where there is some: copying is most of the work.
    const root = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "cordon-corpus-"));
    // An attack runs as nobody where the test runs as root, and must get there.
    chmodSync(root, 0o755);
    const able = attacks.filter((attack) => attack.shows !== undefined && canRun(attack));
    const failures: string[] = [];
    const lane = async (index: number) => {
      const scratch = new AttackScratch(join(root, `lane${index}`));
      for (let at = index; at < able.length; at += LANES) {
        const attack = able[at] as Attack;
        const instead = await scratch.run(attack);
        if (instead !== undefined) failures.push(`${attack.id}: ${attack.command} wants ${attack.shows}: ${instead}`);
      }
    };
    try {
      await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
    expect(failures).toEqual([]);
  }, 120_000);
});
