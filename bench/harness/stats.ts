/** A median with its spread. */
export interface Summary {
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
  /** How many rounds it was taken from. */
  readonly rounds: number;
}

/** Median and spread of what the rounds gave. */
export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    p10: quantile(sorted, 0.1),
    p90: quantile(sorted, 0.9),
    rounds: values.length,
  };
}

/** The quantile of sorted values, between neighbours by proportion. */
export function quantile(sorted: readonly number[], q: number): number {
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}
