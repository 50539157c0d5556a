import { ConfigurationError } from '../errors.js';

/**
 * With a zone, always: without one, JavaScript reads local time, and instances in different zones would start to
 * seal with a new key at different moments.
 */
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * Reads the moment from which a key may seal, as ms since the Unix epoch. Takes a `Date`, ms since the epoch, or an
 * ISO 8601 date-time with a zone (`2026-08-01T00:00:00Z`).
 *
 * @throws ConfigurationError if it is none of these.
 */
export function parseActivateAt(value: Date | string | number, label: string): number {
  const time = toTime(value);
  if (!Number.isSafeInteger(time) || time < 0) {
    throw new ConfigurationError(
      `${label} has an activateAt that is not a moment in time. ` +
        `Write an ISO date-time with a zone, such as 2026-08-01T00:00:00Z.`,
    );
  }
  return time;
}

/** Number() would do for all but what JavaScript callers pass as well: it makes `null` the year 1970. */
function toTime(value: unknown): number {
  if (typeof value === 'string') return parseDateTime(value);
  if (value instanceof Date) return value.getTime();
  return typeof value === 'number' ? value : Number.NaN;
}

function parseDateTime(text: string): number {
  const match = DATE_TIME.exec(text);
  if (match === null) return Number.NaN;
  const [, year, month, day] = match;
  // Date.parse takes 30 February for 2 March; a typing error must not move the start of a key.
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) return Number.NaN;
  return Date.parse(text);
}
