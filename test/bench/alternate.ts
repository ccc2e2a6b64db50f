/**
 * Two programs in turn, A B A B …: on a machine that others use, a ratio of neighbours holds where two averages do not.
 */

/**
 * A program to time. `env` replaces the environment; `cwd` is where it runs. Output is thrown away, but for one with a clock of
 * its own, which prints the milliseconds that count.
 */
export type Timed = {
  name: string;
  argv: [string, ...string[]];
  cwd?: string;
  env?: Record<string, string>;
  clock?: "printed";
};

/** Times of one program over all rounds, in milliseconds. CPU is user plus system of the process and its children. */
export type Times = { name: string; medianMs: number; minMs: number; cpuMs: number };

/** `ratio` is the median over the rounds of subject ÷ peer; `low` and `high` hold the middle half of them. */
export type Comparison = {
  rounds: number;
  subject: Times;
  peer: Times;
  ratio: number;
  low: number;
  high: number;
  /** The median over the rounds of subject minus peer, in milliseconds. */
  addedMs: number;
};

/** What a program lacks to be measured, in words; undefined when it runs and ends with 0. */
export function whyNot(timed: Timed): string | undefined {
  if (Bun.which(timed.argv[0]) === null) return `${timed.argv[0]} is not installed`;
  const end = Bun.spawnSync(timed.argv, { ...place(timed), stdout: "ignore", stderr: "pipe" });
  if (end.exitCode === 0) return undefined;
  const said = end.stderr.toString().trim().split("\n").at(-1) ?? "";
  return `exit code ${end.exitCode ?? end.signalCode}${said === "" ? "" : `: ${said.slice(0, 160)}`}`;
}

/** A row that would take longer gets fewer rounds: all of them together must be done in ten minutes. In milliseconds. */
const LONGEST_MS = 30_000;
const FEWEST_ROUNDS = 3;

/** Runs both in turn, after three rounds that do not count. */
export function compare(subject: Timed, peer: Timed, rounds: number): Comparison {
  const warmUp = 3;
  const samples: { subject: Sample; peer: Sample }[] = [];
  const begin = performance.now();
  for (let round = 0; round < rounds + warmUp; round += 1) {
    if (samples.length >= FEWEST_ROUNDS && performance.now() - begin > LONGEST_MS) break;
    // The one that goes second finds warmer caches: take turns at that too.
    const subjectFirst = round % 2 === 0;
    const first = time(subjectFirst ? subject : peer);
    const second = time(subjectFirst ? peer : subject);
    if (round >= warmUp)
      samples.push(subjectFirst ? { subject: first, peer: second } : { subject: second, peer: first });
  }
  const ratios = samples.map((sample) => sample.subject.wallMs / sample.peer.wallMs);
  return {
    rounds: samples.length,
    subject: summary(
      subject.name,
      samples.map((sample) => sample.subject),
    ),
    peer: summary(
      peer.name,
      samples.map((sample) => sample.peer),
    ),
    ratio: quantile(ratios, 0.5),
    low: quantile(ratios, 0.25),
    high: quantile(ratios, 0.75),
    addedMs: quantile(
      samples.map((sample) => sample.subject.wallMs - sample.peer.wallMs),
      0.5,
    ),
  };
}

/** The value below which a share of the values lies. Throws for no values. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  if (low === undefined || high === undefined) throw new RangeError("Cannot take a quantile of no values");
  return low + (high - low) * (at - Math.floor(at));
}

type Sample = { wallMs: number; cpuMs: number };

function time(timed: Timed): Sample {
  const started = performance.now();
  const stdout = timed.clock === "printed" ? "pipe" : "ignore";
  const end = Bun.spawnSync(timed.argv, { ...place(timed), stdout, stderr: "ignore" });
  const wallMs = timed.clock === "printed" ? Number(end.stdout) : performance.now() - started;
  if (end.exitCode !== 0)
    throw new Error(`${timed.name} ended with exit code ${end.exitCode} in the middle of a measurement`);
  // getrusage(2) counts in microseconds.
  return { wallMs, cpuMs: Number(end.resourceUsage.cpuTime.total) / 1000 };
}

function place(timed: Timed): { stdin: "ignore"; cwd?: string; env?: Record<string, string> } {
  const { cwd, env } = timed;
  return { stdin: "ignore", ...(cwd === undefined ? {} : { cwd }), ...(env === undefined ? {} : { env }) };
}

function summary(name: string, samples: Sample[]): Times {
  const wall = samples.map((sample) => sample.wallMs);
  const cpu = samples.map((sample) => sample.cpuMs);
  return { name, medianMs: quantile(wall, 0.5), minMs: quantile(wall, 0), cpuMs: quantile(cpu, 0.5) };
}
