import { ToolFault } from "../contract/fault.ts";
import { type PolicyDoor, policyDoor } from "../engine/policy.ts";
import { createLineFramer, type Frame } from "../serve/frame_lines.ts";
import { type CheckAnswer, type CheckBasis, errorAnswer, type JudgedLine, judgeLine } from "./check.ts";
import type { RuleSets } from "./rule_sets.ts";

/** Where answers go: lines of JSON as bytes, or one that is not written out yet. */
export type CheckOut = { bytes: (lines: Uint8Array) => void; answer: (answer: CheckAnswer) => void };

/** Answers lines as they come in, in order, one line for each that is not empty. */
export type CheckStream = {
  /** Takes the next bytes; a line may begin in one chunk and end in another. Call it again when it has resolved. */
  push: (chunk: Uint8Array) => Promise<void>;
  /** The rest without `\n` is a line too. Call once, at the end of input. */
  end: () => Promise<void>;
};

/** A command of a megabyte is the most that the parser takes; JSON may write each byte as six. */
const LINE_LIMIT_BYTES = 8 * 1024 * 1024;

/** Bytes that the component gets at a time: its answers are about ten times as long. */
const BLOCK_BYTES = 32 * 1024;

const NEWLINE = 0x0a;

/** Opens a stream of `policy check --stdin` lines. Brings the policy component up. */
export async function openCheckStream(basis: CheckBasis, sets: RuleSets, out: CheckOut): Promise<CheckStream> {
  const stream = new Stream(await policyDoor(), { basis, sets, out });
  return { push: (chunk) => stream.push(chunk), end: () => stream.end() };
}

type Parts = { basis: CheckBasis; sets: RuleSets; out: CheckOut };

/** Whole lines go through the component's door together; what the component leaves, and lines cut in two, are framed and judged alone. */
class Stream {
  readonly #door: PolicyDoor;
  readonly #parts: Parts;
  readonly #framer = createLineFramer(LINE_LIMIT_BYTES);
  /** The line that is read next, from 1. */
  #line = 1;
  /** Its first bytes are in the framer. */
  #begun = false;

  constructor(door: PolicyDoor, parts: Parts) {
    this.#door = door;
    this.#parts = parts;
  }

  async push(chunk: Uint8Array): Promise<void> {
    let at = 0;
    while (at < chunk.length) {
      const end = this.#begun ? chunk.indexOf(NEWLINE, at) + 1 : endOfBlock(chunk, at);
      if (end === 0 || this.#begun || end - at > BLOCK_BYTES) {
        await this.#frames(this.#framer.push(chunk.subarray(at, end === 0 ? undefined : end)));
        this.#begun = end === 0;
        if (end > 0) this.#line += 1;
      } else await this.#block(chunk.subarray(at, end));
      at = end === 0 ? chunk.length : end;
    }
  }

  async end(): Promise<void> {
    await this.#frames(this.#framer.end());
  }

  /** Lines that are all there. */
  async #block(lines: Uint8Array): Promise<void> {
    const { out } = this.#parts;
    // What the paths of earlier lines led to may have changed since.
    this.#door.forget();
    for (let rest = lines; rest.length > 0; ) {
      const { answers, left } = this.#door.answerLines(rest);
      if (answers.length > 0) out.bytes(answers);
      this.#line += newlines(rest.subarray(0, left));
      if (left === undefined) return;
      const end = rest.indexOf(NEWLINE, left) + 1;
      for (const { context } of await this.#frames(this.#framer.push(rest.subarray(left, end))))
        if (context) this.#door.learn(context.policy.set, context.question, context.lasting);
      this.#line += 1;
      rest = rest.subarray(end);
    }
  }

  async #frames(frames: readonly Frame[]): Promise<JudgedLine[]> {
    const judged: JudgedLine[] = [];
    for (const frame of frames) {
      const one = await this.#judge(frame);
      if (one.answer.error) one.answer.error.line = this.#line;
      this.#parts.out.answer(one.answer);
      judged.push(one);
    }
    return judged;
  }

  async #judge(frame: Frame): Promise<JudgedLine> {
    if (frame.kind === "line") return judgeLine(frame.text, this.#parts.basis, this.#parts.sets);
    const [code, message] =
      frame.kind === "too_long"
        ? (["serve.too_long", `The line is longer than ${LINE_LIMIT_BYTES} bytes`] as const)
        : (["serve.bad_utf8", "The line is not UTF-8"] as const);
    return { answer: errorAnswer(new ToolFault({ code, message })) };
  }
}

/** The end of the last line that begins at `at` or behind it and ends within a block, or of the first if it is longer; 0 if none ends. */
function endOfBlock(chunk: Uint8Array, at: number): number {
  const last = chunk.lastIndexOf(NEWLINE, at + BLOCK_BYTES - 1) + 1;
  return last > at ? last : chunk.indexOf(NEWLINE, at) + 1;
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
