/**
 * What a person sees while things are built: one line when a step starts, one when it ends with the time it took.
 * Everything goes to stderr, so that stdout stays the program's (`npm start -- run -- CMD | next`).
 */

/** A failure whose message is meant for a person as it stands: what was found, what is wanted, the next step. */
export class BuildError extends Error {}

/** How a step ended: `built` did work, `fresh` found nothing to do, `skipped` could not or need not run (with the reason). */
export type StepEnd = { state: "built" | "fresh" | "skipped"; note?: string };

/** Counts steps and prints them. `done` steps were shown by the caller before this program started. */
export class Progress {
  #step: number;
  readonly #total: number;

  constructor(done: number, total: number) {
    this.#step = done;
    this.#total = total;
  }

  /** Runs one step and prints its lines. Rethrows what `work` throws, after naming the step that failed. */
  async run(title: string, work: () => Promise<StepEnd> | StepEnd): Promise<StepEnd> {
    this.#step += 1;
    const place = `[${this.#step}/${this.#total}]`;
    const started = performance.now();
    if (process.stderr.isTTY) process.stderr.write(`${place} ${title} …`);
    try {
      const end = await work();
      const text = [wording[end.state], end.note].filter(Boolean).join(": ");
      sayOver(`${place} ${title}  ${text} (${seconds(performance.now() - started)})`);
      return end;
    } catch (error) {
      sayOver(`${place} ${title}  failed after ${seconds(performance.now() - started)}`);
      throw error;
    }
  }
}

/** Prints one line of progress below the current step. */
export function say(line: string): void {
  sayOver(line);
}

/** A duration in milliseconds as people read it: "0.2 s", "1 min 05 s". */
export function seconds(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const whole = Math.round(ms / 1000);
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, "0")} s`;
}

const wording = {
  built: "done",
  fresh: "up to date",
  skipped: "skipped",
} satisfies Record<StepEnd["state"], string>;

/** On a terminal, the unfinished "[2/7] … …" line is replaced. */
function sayOver(line: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${line}\n` : `${line}\n`);
}
