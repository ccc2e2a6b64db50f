// C13, C14, C18, D8: the labelled commands of test/policy/corpus, asked of the executable as a program would ask it.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCordon } from "../support/run_cordon.ts";
import { makeScratch, removeScratch, type Scratch } from "../support/scratch.ts";

type Case = { id: string; command: string; rules?: object; expected: "refused" | "allow" | "deny" };
type Answer = { id: string; decision: "allow" | "ask" | "deny"; reason: string; trace: { verdict: string }[] };

/** Of the harmless commands, at most this share may ask. */
const MOST_ASKING = 0.02;

const folder = join(import.meta.dir, "../policy/corpus");
const cases: Case[] = readdirSync(folder)
  .toSorted()
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));

let scratch: Scratch;
beforeAll(() => {
  scratch = makeScratch();
  for (const name of ["src", "other", "other/src"]) mkdirSync(join(scratch.work, name));
  mkdirSync(join(scratch.top, "there"));
  writeFileSync(join(scratch.work, ".env"), "SECRET=1\n");
  writeFileSync(join(scratch.work, "other/a.txt"), "text\n");
  symlinkSync("../.env", join(scratch.work, "src/link"));
  symlinkSync(join(scratch.top, "home"), join(scratch.work, "away"));
});
afterAll(() => removeScratch(scratch));

/** Every question's answer; the stream itself must be whole: one line each, in order, exit 0, nothing on stderr. */
async function ask(questions: readonly object[]): Promise<Answer[]> {
  const stdin = questions.map((question) => `${JSON.stringify(question)}\n`).join("");
  const ended = await runCordon(["policy", "check", "--stdin", "--json"], { scratch }, stdin);
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
  const answers: Answer[] = ended.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers).toHaveLength(questions.length);
  return answers;
}

/** Each case with its answer under these further keys of a line. The corpus has its workspace at /ws. */
async function decide(more: { cwd?: string; mode?: string } = {}): Promise<{ one: Case; answer: Answer }[]> {
  const here = (command: string) => command.replace(/\/ws(?![\w-])/g, more.cwd ?? scratch.work);
  const lines = cases.map(({ id, command, rules }) => ({ id, command: here(command), rules: rules ?? {}, ...more }));
  const answers = await ask(lines);
  expect(answers.map(({ id }) => id)).toEqual(cases.map(({ id }) => id));
  return cases.map((one, at) => ({ one, answer: answers[at] as Answer }));
}

const shown = ({ one, answer }: { one: Case; answer: Answer }) =>
  `${one.id}: ${JSON.stringify(one.command)} is ${answer.decision}: ${answer.reason}`;

describe("the corpus through policy check", () => {
  test("C14, C18, D8 no attack is allowed, every deny rule holds, and nearly nothing harmless asks", async () => {
    const decided = await decide();
    const missed = (expected: Case["expected"], fits: (answer: Answer) => boolean) =>
      decided.filter(({ one, answer }) => one.expected === expected && !fits(answer)).map(shown);
    expect(missed("refused", ({ decision }) => decision !== "allow")).toEqual([]);
    expect(missed("deny", ({ decision }) => decision === "deny")).toEqual([]);
    const asking = missed("allow", ({ decision }) => decision === "allow");
    const harmless = cases.filter(({ expected }) => expected === "allow").length;
    if (asking.length > harmless * MOST_ASKING) expect(asking).toEqual([]);
    expect(cases.length).toBeGreaterThan(1_500);
  });

  test("E2 each answer says why, and its trace holds a step of the verdict that decided", async () => {
    const silent = (await decide()).filter(({ answer: { decision, reason, trace } }) => {
      const strictest = ["deny", "ask", "allow"].find((verdict) => trace.some((step) => step.verdict === verdict));
      return reason === "" || strictest !== decision;
    });
    expect(silent.map(shown)).toEqual([]);
  });

  test("C13 a line may name its mode and folder: the same decisions there, and dont-ask never asks", async () => {
    const [plain, there, asking] = await Promise.all([
      decide(),
      decide({ mode: "workspace-write", cwd: join(scratch.top, "there") }),
      decide({ mode: "dont-ask" }),
    ]);
    const differing = plain.filter(({ answer }, at) => there[at]?.answer.decision !== answer.decision);
    expect(differing.map(shown)).toEqual([]);
    expect(asking.filter(({ answer }) => answer.decision === "ask").map(shown)).toEqual([]);
    const allowed = (list: typeof plain) =>
      list.filter(({ answer }) => answer.decision === "allow").map(({ one }) => one.id);
    expect(allowed(asking)).toEqual(allowed(plain));
  });

  test("C2, C13 lines about paths are judged at both ends of a link, beside their allowed twins", async () => {
    const { work, home } = scratch;
    const rows: [object, Answer["decision"]][] = [
      [{ op: "read", path: "other/a.txt" }, "allow"],
      [{ op: "read", path: ".env", rules: { deny: ["Read(.env)"] } }, "deny"],
      [{ op: "read", path: "src/link", rules: { deny: ["Read(.env)"] } }, "deny"],
      [{ op: "read", path: "src/link", rules: { deny: ["Read(src/link)"] } }, "deny"],
      [{ op: "read", path: "other/../.env", rules: { deny: ["Read(/.env)"] } }, "deny"],
      [{ op: "read", path: "other/a.txt", rules: { deny: ["Read(.env)"] } }, "allow"],
      [{ op: "write", path: "other/new.txt" }, "allow"],
      [{ op: "write", path: "new.txt", cwd: join(work, "other"), roots: [join(work, "other")] }, "allow"],
      [{ op: "write", path: "../new.txt", cwd: join(work, "other"), roots: [join(work, "other")] }, "ask"],
      [{ op: "write", path: "../new.txt", cwd: join(work, "other"), roots: [work] }, "allow"],
      [{ op: "write", path: join(home, ".bashrc") }, "deny"],
      [{ op: "write", path: "away/.bashrc" }, "deny"],
      [{ op: "write", path: join(home, "notes.txt") }, "ask"],
      [{ op: "write", path: join(home, "notes.txt"), rules: { allow: ["Edit(~/notes.txt)"] } }, "allow"],
      [{ op: "write", path: "other/a.txt", mode: "read-only" }, "deny"],
      [{ op: "read", path: "other/a.txt", mode: "prompt" }, "ask"],
    ];
    const answers = await ask(rows.map(([line], at) => ({ id: `path ${at}`, rules: {}, cwd: work, ...line })));
    const told = (line: object, decision: string) => ({ ...line, decision });
    expect(rows.map(([line], at) => told(line, answers[at]?.decision ?? ""))).toEqual(
      rows.map(([line, decision]) => told(line, decision)),
    );
    expect(answers.map(({ id }) => id)).toEqual(rows.map((_, at) => `path ${at}`));
    expect(answers.filter(({ reason, trace }) => reason === "" || trace.length === 0)).toEqual([]);
  });
});
