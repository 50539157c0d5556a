import { InvalidArgumentError } from 'commander';

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The longest that is taken: a year. */
const MOST_MS = 366 * 86_400_000;

/**
 * Reads a length of time: a number, and `ms`, `s`, `m`, `h` or `d`; seconds without one.
 *
 * @returns milliseconds
 * @throws InvalidArgumentError for anything else.
 */
export function parseDuration(text: string): number {
  const [, number = '', unit = 's'] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)?$/.exec(text) ?? [];
  const ms = number === '' ? 0 : Math.round(Number(number) * (UNITS[unit] ?? 0));
  if (ms < 1 || ms > MOST_MS) {
    throw new InvalidArgumentError('It must be a length of time: 90, 90s, 1.5m, 2h or 1d.');
  }
  return ms;
}
