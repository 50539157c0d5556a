import { describe, expect, it } from 'vitest';
import { parseDuration } from '../src/duration.js';

describe('a length of time', () => {
  it.each([
    ['90', 90_000],
    ['90s', 90_000],
    ['1.5m', 90_000],
    ['500ms', 500],
    ['0.001s', 1],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', '0', '-1', '1e3', '0x10', '1w', 'soon', '1 s', '999999d', '0.1ms', 'Infinity'])(
    '%j is none',
    (text) => {
      expect(() => parseDuration(text)).toThrow(/a length of time/);
    },
  );
});
