import type { Comparison, Line, Unit } from './row.js';
import { summarize } from './stats.js';

/*
 * Samples are times: for each subject a list with one of each round, so that what disturbed a round disturbed all
 * subjects in it. The first subject is ours.
 */

/** The lines of a table, peers with their ratio to ours. */
export function asLines(
  scenario: string,
  unit: Unit,
  names: readonly string[],
  samples: readonly (readonly number[])[],
  at?: number,
): Line[] {
  return names.map((subject, index) => {
    const value = summarize(samples[index] ?? []);
    const line: Line = { scenario, subject, unit, value, ...(at === undefined ? {} : { at }) };
    return index === 0 ? line : { ...line, ratio: summarize(ratios(samples, index)) };
  });
}

/** What a row asks of its samples. */
export function asComparison(names: readonly string[], samples: readonly (readonly number[])[]): Comparison {
  const indexOf = (name: string): number => {
    const index = names.indexOf(name);
    if (index === -1) throw new Error(`There is no subject '${name}' in this comparison.`);
    return index;
  };
  return {
    time: (subject) => summarize(samples[subject === undefined ? 0 : indexOf(subject)] ?? []).median,
    ratio: (peer, subject) =>
      summarize(ratios(samples, indexOf(peer), subject === undefined ? 0 : indexOf(subject))).median,
  };
}

/** Round by round: what a peer takes, by what a subject takes. */
function ratios(samples: readonly (readonly number[])[], peer: number, subject = 0): number[] {
  const by = samples[subject] ?? [];
  return (samples[peer] ?? []).map((time, round) => time / (by[round] ?? Number.NaN));
}
