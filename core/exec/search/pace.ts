import { ToolFault } from "../../contract/fault.ts";

/** Longest time between two looks at the event loop, in milliseconds: a cancelled search ends well within 50. */
const STRETCH_MS = 20;

/** Lets a long synchronous search breathe, and ends it when its signal is raised or its time is over. */
export class Pace {
  readonly #signal: AbortSignal;
  readonly #end: number;
  #since = performance.now();

  /** `timeBudgetMs` counts from now; undefined is no end. */
  constructor(signal: AbortSignal, timeBudgetMs?: number) {
    this.#signal = signal;
    this.#end = timeBudgetMs === undefined ? Number.POSITIVE_INFINITY : this.#since + timeBudgetMs;
    this.check();
  }

  /** Call once for some files. True when `breathe` is due. */
  isDue(): boolean {
    return performance.now() - this.#since > STRETCH_MS;
  }

  /** True once the time budget is used up. */
  get isOver(): boolean {
    return performance.now() > this.#end;
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
