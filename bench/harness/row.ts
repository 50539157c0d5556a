import type { Summary } from './stats.js';

/**
 * One row of the benchmarks: a file in `bench/rows` whose default export this is. The file's name is the row's.
 *
 * ```ts
 * export default {
 *   title: 'Sealing',
 *   leavesOut: 'the transport',
 *   async measure(bench) {
 *     const sealing = await bench.compare('seal 2 KB', { parley: () => ours(), 'SDK codec': () => theirs() });
 *     bench.judge('seal 2 KB', 'faster than the SDK codec', sealing.ratio('SDK codec'), { atLeast: 3, unit: 'x' });
 *   },
 * } satisfies Row;
 * ```
 */
export interface Row {
  readonly title: string;
  /** What the numbers do not hold. Printed with them. */
  readonly leavesOut: string;
  measure(bench: Bench): Promise<void>;
}

/** One operation of a subject; awaited if it gives a promise. */
export type Operation = () => unknown;

/** What a row measures with. */
export interface Bench {
  /** Whether the whole run must take less than a minute. */
  readonly quick: boolean;
  /**
   * Measures the operations in turn, batch by batch, so that the noise of a shared machine falls on all of them.
   *
   * @param subjects by name; the first is ours, the others are its peers.
   */
  compare(
    scenario: string,
    subjects: Readonly<Record<string, Operation>>,
    options?: CompareOptions,
  ): Promise<Comparison>;
  /** Adds a line that the row measured by itself. */
  add(line: Line): void;
  /** Says something of how it was measured, beside the table. */
  note(text: string): void;
  /** Judges a value by its target. */
  judge(scenario: string, what: string, value: number, target: Target): void;
}

/** How to compare. */
export interface CompareOptions {
  /** Operations that are under way at the same time. Default 1: each is awaited before the next. */
  readonly concurrency?: number;
  /** One operation counts as this many: the unit is then the time of one of them. Default 1. */
  readonly per?: number;
  /** Place of the scenario on the axis of a plot, where several make up a series. */
  readonly at?: number;
  /** Measures so many rounds instead, with no batch longer than one operation, for operations that take long. */
  readonly single?: { readonly rounds: number };
}

/** What a comparison found. */
export interface Comparison {
  /** Median time of a subject, in µs; of ours without a name. */
  time(subject?: string): number;
  /** The peer's time by a subject's (ours without a name), median of the rounds: above 1, the subject is faster. */
  ratio(peer: string, subject?: string): number;
}

/** A measured value, or the verdict's limit. */
export type Unit = 'µs' | 'ms' | 'MB' | 'kB' | 'x' | 'bytes';

/** One line of the table. */
export interface Line {
  readonly scenario: string;
  readonly subject: string;
  readonly unit: Unit;
  readonly value: Summary;
  /** Place of the scenario on the axis of a plot, where several make up a series. */
  readonly at?: number;
  /** The peer's value by ours, of the same rounds; absent for ours. */
  readonly ratio?: Summary;
}

/** What a value is judged by. */
export type Target = { readonly unit: Unit } & ({ readonly atLeast: number } | { readonly atMost: number });

/** Whether a value is as good as its target. */
export function isMet(value: number, target: Target): boolean {
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost;
}

/** How a value was judged. */
export interface Verdict {
  readonly scenario: string;
  readonly what: string;
  readonly value: number;
  readonly target: Target;
  readonly met: boolean;
}

/** What a row gave; plain data, since it comes from a process of its own. */
export interface RowResult {
  readonly name: string;
  readonly title: string;
  readonly leavesOut: string;
  readonly notes: readonly string[];
  readonly lines: readonly Line[];
  readonly verdicts: readonly Verdict[];
  readonly seconds: number;
}
