/** The compiler refuses each way past a stage; every file in refused/ holds one of them. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import ts from "typescript";

const ROOT = join(import.meta.dir, "../..");

/** Each forbidden thing with the compiler's error for it and a part of its words. Nothing else may be wrong in the file. */
const REFUSED: Record<string, { code: number; says: string }> = {
  execute_validated: { code: 2345, says: "'PlannedCall'" },
  execute_hooked: { code: 2345, says: "'PlannedCall'" },
  execute_hand_made: { code: 2345, says: "'PlannedCall'" },
  plan_hand_made: { code: 2322, says: "'PlannedCall'" },
  plan_validated: { code: 2345, says: "'HookedCall'" },
  plan_without_hooks: { code: 2345, says: "'HookedCall'" },
  authorize_request: { code: 2345, says: "'ValidatedCall'" },
  refusal_ignored: { code: 2345, says: "'ValidatedCall'" },
  close_uncapped: { code: 2379, says: "'CappedOutcome'" },
  outcome_hand_made: { code: 2345, says: "'Outcome'" },
  table_misses_verdict: { code: 1360, says: "'ask' is missing" },
  table_misses_mode: { code: 1360, says: "'allow' is missing" },
};

const filesIn = (folder: string) =>
  readdirSync(join(import.meta.dir, folder)).map((name) => join(import.meta.dir, folder, name));

/** Compiles these files under the project's own settings and gives what is wrong in them, one list a file. */
function compile(files: string[]): Map<string, ts.Diagnostic[]> {
  const { config } = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, ROOT);
  const program = ts.createProgram(files, options);
  return new Map(
    files.map((file) => {
      const source = program.getSourceFile(file);
      return [
        basename(file, ".ts"),
        source ? [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)] : [],
      ];
    }),
  );
}

const compiled = compile([...filesIn("refused"), ...filesIn("accepted")]);
const wordsOf = ({ messageText }: ts.Diagnostic) => ts.flattenDiagnosticMessageText(messageText, "\n");

for (const [name, { code, says }] of Object.entries(REFUSED)) {
  test(`A6 ${name.replaceAll("_", " ")} does not compile`, () => {
    const found = compiled.get(name) ?? [];
    expect(found.map((one) => one.code)).toEqual([code]);
    expect(found.map(wordsOf).join()).toContain(says);
  });
}

test("A6 every file of refused/ has its error in the table", () => {
  expect(
    filesIn("refused")
      .map((file) => basename(file, ".ts"))
      .sort(),
  ).toEqual(Object.keys(REFUSED).sort());
});

test("A6 the path in its order compiles", () => {
  expect(filesIn("accepted").length).toBeGreaterThan(0);
  for (const file of filesIn("accepted")) expect((compiled.get(basename(file, ".ts")) ?? []).map(wordsOf)).toEqual([]);
});
