import { ToolFault } from "../../contract/fault.ts";

/** Longest time between two looks at the event loop, in milliseconds: a cancelled search ends well within 50. */
const STRETCH_MS = 20;

/** The clock is read once for so many steps: reading it costs about as much as one small step. */
const STEPS_BETWEEN_LOOKS = 16;

/** Lets a long synchronous search breathe, and ends it when its signal is raised. */
export class Pace {
  readonly #signal: AbortSignal;
  #since = performance.now();
  #steps = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.check();
  }

  /** Call once for each file or folder. True when `breathe` is due. */
  isDue(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS_BETWEEN_LOOKS === 0 && performance.now() - this.#since > STRETCH_MS;
  }

  /** Gives other work of the process its turn. Throws `tool.cancelled` if the signal was raised. */
  async breathe(): Promise<void> {
    await new Promise((resume) => setImmediate(resume));
    this.check();
    this.#since = performance.now();
  }

  /** Throws `tool.cancelled` if the signal was raised. */
  check(): void {
    if (this.#signal.aborted) throw new ToolFault({ code: "tool.cancelled", message: "The search was cancelled" });
  }
}
