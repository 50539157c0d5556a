import { describe, expect, it } from 'vitest';
import { asComparison, asLines } from '../../bench/harness/samples.js';
import { quantile, summarize } from '../../bench/harness/stats.js';

describe('quantile', () => {
  it('lies between neighbours by proportion', () => {
    expect(quantile([10, 20, 30], 0.5)).toBe(20);
    expect(quantile([10, 20], 0.25)).toBe(12.5);
    expect(quantile([10, 20, 30, 40, 50], 0.99)).toBeCloseTo(49.6);
  });

  it('of one value is that value, and of none is not a number', () => {
    expect(quantile([7], 0.9)).toBe(7);
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe('summarize', () => {
  it('does not want sorted values, and leaves them as they were', () => {
    const values = [30, 10, 20];
    expect(summarize(values)).toEqual({ median: 20, p10: 12, p90: 28, rounds: 3 });
    expect(values).toEqual([30, 10, 20]);
  });
});

describe('samples', () => {
  // In the second round the machine was disturbed: both took four times as long.
  const samples = [
    [10, 40, 10],
    [20, 80, 30],
    [5, 20, 5],
  ];
  const names = ['ours', 'peer', 'other'];

  it('gives ratios of the same rounds, so that what disturbs all cancels out', () => {
    const [ours, peer] = asLines('a', 'µs', names, samples);
    expect(ours?.ratio).toBeUndefined();
    expect(peer?.ratio).toMatchObject({ median: 2, rounds: 3 });
  });

  it('compares with ours, or with another subject that is named', () => {
    const found = asComparison(names, samples);
    expect(found.time()).toBe(10);
    expect(found.time('peer')).toBe(30);
    expect(found.ratio('peer')).toBe(2);
    expect(found.ratio('peer', 'other')).toBe(4);
  });

  it('refuses a subject that was not measured', () => {
    expect(() => asComparison(names, samples).ratio('nobody')).toThrow("no subject 'nobody'");
  });
});
