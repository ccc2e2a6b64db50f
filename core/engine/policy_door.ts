/**
 * Questions and answers through the policy component's linear memory. jco's wrappers and its two copies of each text cost
 * more than the decision itself (core/adr/0017-decision-door.md).
 */
import type { Decision, PolicyQuestion } from "../contract/verdict.ts";
import { type CoreFunction, coreFunctions } from "./core_functions.ts";
import type { LoadedPolicy } from "./load.ts";

/** Functions of wasm/wit/policy.wit, by their names in the canonical ABI. */
const CORE = {
  reserve: "cordon:policy/rules@0.1.0#reserve",
  answer: "cordon:policy/rules@0.1.0#answer",
  decide: "cordon:policy/rules@0.1.0#decide",
  answerLines: "cordon:policy/rules@0.1.0#answer-lines",
  answered: "cordon:policy/rules@0.1.0#answered",
  learn: "cordon:policy/rules@0.1.0#learn",
  forget: "cordon:policy/rules@0.1.0#forget",
} as const;

/** The room to begin with. */
const FIRST_BYTES = 64 << 10;

/** Room that grew beyond this is given back with the next question. */
const KEPT_BYTES = 1 << 20;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What the component answered of some lines, and the byte at which the line stands that it leaves to its host; all are answered without one. */
export type LinesAnswered = { answers: Uint8Array; left: number | undefined };

/** The door to one instance of the component. After a failure inside it no question is answered any more. */
export class PolicyDoor {
  readonly #core: Record<keyof typeof CORE, CoreFunction>;
  readonly #memory: WebAssembly.Memory;
  #room = { at: 0, bytes: 0 };
  #broken: Error | undefined;

  constructor({ exports, memory }: LoadedPolicy) {
    this.#core = coreFunctions(exports, CORE);
    this.#memory = memory;
  }

  /** `rules.decide` of policy.wit: the decision of the set of this number. Throws if the component failed. */
  decide(set: number, question: PolicyQuestion): Decision {
    const answer = this.#guarded(() => this.#answer(this.#core.decide(set, this.#ask(JSON.stringify(question)))));
    // Made by the component's serializer from the Rust type that Decision mirrors.
    return JSON.parse(decoder.decode(answer)) as Decision;
  }

  /**
   * `rules.answer-lines` of policy.wit: answers whole lines until one is the host's. `answers` is a copy. Forget first what the
   * file system may have made untrue.
   */
  answerLines(lines: Uint8Array): LinesAnswered {
    return this.#guarded(() => {
      this.#view(lines.length).set(lines);
      const stopped = this.#core.answerLines(0, lines.length);
      const answers = this.#answer(this.#core.answered()).slice();
      return { answers, left: stopped < lines.length ? stopped : undefined };
    });
  }

  /** `rules.learn` of policy.wit: explains the line that was left to the host last. */
  learn(set: number, question: PolicyQuestion, lasting: boolean): void {
    this.#guarded(() => this.#core.learn(set, this.#ask(JSON.stringify(question)), lasting ? 1 : 0));
  }

  /** `rules.forget` of policy.wit. */
  forget(): void {
    this.#guarded(() => this.#core.forget());
  }

  /** Whatever comes out of the component leaves its memory in any state. */
  #guarded<Result>(call: () => Result): Result {
    if (this.#broken) throw this.#broken;
    try {
      return call();
    } catch (error) {
      this.#broken = new Error("The policy engine failed and answers nothing any more", { cause: error });
      throw this.#broken;
    }
  }

  /** Puts text into the room and returns its length in bytes. Half a surrogate pair becomes U+FFFD. */
  #ask(text: string): number {
    // A UTF-16 unit is at most three bytes of UTF-8.
    return encoder.encodeInto(text, this.#view(text.length * 3)).written;
  }

  /** The component's room, at least `bytes` long. */
  #view(bytes: number): Uint8Array {
    if (bytes > this.#room.bytes || this.#room.bytes > KEPT_BYTES) {
      const size = Math.max(bytes, FIRST_BYTES);
      this.#room = { at: this.#core.reserve(size) >>> 0, bytes: size };
    }
    return new Uint8Array(this.#memory.buffer, this.#room.at, this.#room.bytes);
  }

  /** The bytes of the last answer, in the component's memory. */
  #answer(bytes: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, this.#core.answer() >>> 0, bytes);
  }
}
