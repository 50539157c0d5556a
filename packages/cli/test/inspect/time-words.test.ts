import { describe, expect, it } from 'vitest';
import { ageOf, dateOf } from '../../src/inspect/time-words.js';

const NOW = Date.UTC(2026, 6, 28, 12);
const [S, MIN, H, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

describe('ageOf', () => {
  it.each([
    [0, 'just now'],
    [-999, 'just now'],
    [-S, '1 s ago'],
    [59 * S, 'in 59 s'],
    [-3 * MIN - 59 * S, '3 min ago'],
    [7 * MIN, 'in 7 min'],
    [-H, '1 h ago'],
    [-47 * H, '47 h ago'],
    [-2 * DAY, '2 days ago'],
    [400 * DAY, 'in 400 days'],
  ])('%i ms from now is %j', (ms, words) => {
    expect(ageOf(NOW + ms, NOW)).toBe(words);
  });
});

describe('dateOf', () => {
  it('writes every time that a token can hold', () => {
    expect(dateOf(NOW)).toBe('2026-07-28T12:00:00.000Z');
    expect(dateOf(8.64e15)).toBe('+275760-09-13T00:00:00.000Z');
    expect(dateOf(Number.MAX_SAFE_INTEGER)).toBe('after all dates');
  });
});
