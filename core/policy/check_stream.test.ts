import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { builtinRules } from "../config/builtin_rules.ts";
import { NO_RULES } from "../contract/verdict.ts";
import { tempFolder } from "../testing/temp_folder.ts";
import { type CheckBasis, decideLine, judgeLine } from "./check.ts";
import { readCheckLine } from "./check_line.ts";
import { openCheckStream } from "./check_stream.ts";
import { createRuleSets } from "./rule_sets.ts";

const BASIS: CheckBasis = {
  builtIn: builtinRules("/home/me/.local/state/cordon", "/home/me/.config/cordon"),
  rules: { ...NO_RULES, deny: [{ rule: "Bash(curl *)", layer: "user", origin: "settings" }] },
  mode: { mode: "danger-full-access", origin: "settings" },
  cwd: "/ws",
  home: "/home/me",
  roots: ["/ws"],
};

/** All answers to these bytes, which arrive in these chunks. */
async function answers(chunks: Uint8Array[], basis = BASIS): Promise<string> {
  let out = "";
  const stream = await openCheckStream(basis, createRuleSets(), {
    bytes: (lines) => {
      out += Buffer.from(lines).toString("utf8");
    },
    answer: (answer) => {
      out += `${JSON.stringify(answer)}\n`;
    },
  });
  for (const chunk of chunks) await stream.push(chunk);
  await stream.end();
  return out;
}

const ask = (text: string) => answers([Buffer.from(text)]);

/** The answer that one line gets alone, without the component's door for lines. */
async function alone(text: string, sets = createRuleSets()): Promise<string> {
  return JSON.stringify((await judgeLine(text, BASIS, sets)).answer);
}

/** Without the number of the line, which a line that is judged alone does not have. */
const unnumbered = (line: string) => line.replace(/,"line":\d+/, "");

type Case = { id: string; command: string; rules?: object };
const folder = join(import.meta.dir, "../../test/policy/corpus");
const corpus: Case[] = readdirSync(folder)
  .toSorted()
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));

describe("C13 the stream of lines", () => {
  test("gives the decision and the trace of explain to each command of the corpus, with its rules and without", async () => {
    const lines = corpus.flatMap(({ id, command, rules = {} }) => [
      JSON.stringify({ id, command, rules }),
      JSON.stringify({ command }),
    ]);
    // Twice: what the first line of a context teaches, the second one uses.
    const out = (await ask([...lines, ...lines].join("\n"))).trimEnd().split("\n");
    expect(out).toHaveLength(2 * lines.length);
    const sets = createRuleSets();
    for (const [at, line] of lines.entries()) {
      const explained = await decideLine(readCheckLine(line), BASIS, sets, "explain");
      const { decision, reason, trace } = JSON.parse(out[at] ?? "");
      expect({ line, decision, reason }).toEqual({ line, decision: explained.verdict, reason: explained.reason });
      // The dear fields are those that only explain fills.
      const plain = explained.trace.map(({ shadowed: _, why: __, stripped: ___, effects: ____, ...step }) => step);
      expect({ line, trace }).toEqual({ line, trace: plain });
      expect(out[at + lines.length]).toBe(out[at] ?? "");
      expect(out[at]).toBe(await alone(line, sets));
    }
  });

  test("gives any text of JSON the answer that it would get alone", async () => {
    const sets = createRuleSets();
    const command = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.constantFrom("ls", "curl x", "a\0b", "\ud800", "x\udfff", '"', "\\", "\u2028", "é\u007f", "cat $x"),
    );
    const id = fc.oneof(
      fc.constantFrom(0, -0, 1e15, 1e16, 1.5, -7, null, true, "\ud800", "\n", {}),
      fc.string({ unit: "binary", maxLength: 5 }),
    );
    const rules = fc.constantFrom({}, null, { deny: ["Bash(ls)"] }, { allow: ["Bash(*)"] }, { alow: [] }, 5);
    const mode = fc.constantFrom("prompt", "read-only", "never", null, 1);
    const line = fc.record(
      { id, command, rules, mode, op: fc.constantFrom("read", null), cwd: fc.constantFrom("/", "x", 1), label: id },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 12 }), async (given) => {
        const lines = given.map((one) => JSON.stringify(one));
        const out = (await ask(`${lines.join("\n")}\n`)).trimEnd().split("\n");
        const wanted = await Promise.all(lines.map((one) => alone(one, sets)));
        expect(out.map(unnumbered)).toEqual(wanted);
      }),
      { numRuns: 200 },
    );
  });

  test("takes lines as JSON readers may not agree on them as it takes them alone", async () => {
    const odd = [
      '{"command":"ls","command":"curl x"}',
      '{"id":1,"id":2,"command":"ls"}',
      '{"id":01,"command":"ls"}',
      '{"id":1.0,"command":"ls"}',
      '{"id":"a\\u0041","command":"l\\u0073"}',
      '{"id":12345678901234567890,"command":"ls"}',
      '{"command":"ls","x":1e999,"y":[[{}]]}',
      '{"command":"ls","\\u0072ules":{"deny":["Bash(ls)"]}}',
      '{"command":"ls","__proto__":{"op":"read"}}',
      '\ufeff{"command":"ls"}',
      ' {"command" : "ls"} ',
      '{"command":"ls"}x',
      `{"command":"ls","x":${"[".repeat(300)}${"]".repeat(300)}}`,
      "null",
      '{"command":"ls","rules":{"deny":["Bash(ls)"],"deny":[]}}',
    ];
    const out = (await ask(odd.join("\n"))).trimEnd().split("\n");
    expect(out.map(unnumbered)).toEqual(await Promise.all(odd.map((one) => alone(one.replace(/^\ufeff/, "")))));
  });

  test("gives any split of the same bytes the same answers", async () => {
    const text = Buffer.concat([
      Buffer.from('{"id":"a","command":"curl é"}\r\n\n{"id":"b","command":"ls","rules":{}}\nnot json\n\r\n'),
      Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      Buffer.from(
        '{"id":"c","op":"write","path":"/ws/x","rules":{}}\n{"id":"d","command":"a\\u0000b"}\n{"command":"ls"}',
      ),
    ]);
    const whole = await answers([text]);
    expect(
      whole
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { id: "a", decision: "deny" },
      { id: "b", decision: "allow" },
      { decision: "deny", error: { code: "serve.bad_json", line: 4 } },
      { decision: "deny", error: { code: "serve.bad_utf8", line: 6 } },
      { id: "c", decision: "allow" },
      { id: "d", decision: expect.stringMatching(/ask|deny/) },
      { decision: "allow" },
    ]);
    for (let cut = 0; cut <= text.length; cut += 1)
      expect(await answers([text.subarray(0, cut), text.subarray(cut)])).toBe(whole);
    expect(await answers([...text].map((byte) => Uint8Array.of(byte)))).toBe(whole);
  });

  test("takes lines of a megabyte, refuses longer ones than it keeps by their number, and goes on", async () => {
    const long = JSON.stringify({ id: 1, command: `echo ${"x".repeat(1_000_000)}` });
    const tooLong = JSON.stringify({ id: 2, command: `echo ${"x".repeat(9 << 20)}` });
    const out = (await ask(`${long}\n${tooLong}\n${long}\n{"id":3,"command":"curl x"}`)).trimEnd().split("\n");
    expect(out.map((line) => JSON.parse(line))).toMatchObject([
      { id: 1, decision: "allow" },
      { decision: "deny", error: { code: "serve.too_long", line: 2 } },
      { id: 1, decision: "allow" },
      { id: 3, decision: "deny" },
    ]);
  });

  test("D10 resolves the folder of a line anew with every block, so that a link that was turned is seen", async () => {
    using place = tempFolder({ "in/": "", "out/": "" });
    const [inside, outside, link] = [place.at("in"), place.at("out"), place.at("link")];
    symlinkSync(inside, link);
    const basis: CheckBasis = { ...BASIS, mode: { mode: "workspace-write", origin: "a flag" } };
    const line = Buffer.from(`${JSON.stringify({ command: "touch a", cwd: link, roots: [inside] })}\n`);
    let decisions: string[] = [];
    const stream = await openCheckStream(basis, createRuleSets(), {
      bytes: (lines) =>
        decisions.push(
          ...Buffer.from(lines)
            .toString()
            .trimEnd()
            .split("\n")
            .map((one) => JSON.parse(one).decision),
        ),
      answer: ({ decision }) => decisions.push(decision),
    });
    await stream.push(Buffer.concat([line, line]));
    expect(decisions).toEqual(["allow", "allow"]);
    unlinkSync(link);
    symlinkSync(outside, link);
    decisions = [];
    await stream.push(Buffer.concat([line, line]));
    expect(decisions).toEqual(["ask", "ask"]);
  });
});
