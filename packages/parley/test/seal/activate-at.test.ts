import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors.js';
import { parseActivateAt } from '../../src/seal/activate-at.js';

const AUGUST = Date.UTC(2026, 7, 1);

describe('parseActivateAt', () => {
  it.each([
    ['2026-08-01T00:00:00Z', AUGUST],
    ['2026-08-01T00:00Z', AUGUST],
    ['2026-08-01T00:00:00.250Z', AUGUST + 250],
    ['2026-08-01T02:00:00+02:00', AUGUST],
    [new Date(AUGUST), AUGUST],
    [AUGUST, AUGUST],
    [0, 0],
  ])('reads %s', (value, time) => {
    expect(parseActivateAt(value, 'Key 1')).toBe(time);
  });

  it.each([
    '',
    'soon',
    '2026-08-01',
    '2026-08-01T00:00:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-08-01T25:00:00Z',
    '1785542400000',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    0.5,
    new Date(Number.NaN),
  ])('refuses %s', (value) => {
    expect(() => parseActivateAt(value, 'Key 1')).toThrow(ConfigurationError);
  });
});
