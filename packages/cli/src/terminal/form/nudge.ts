import { entryOf, readEntry, type AskedField } from './entry.js';

const DAY = 86_400_000;

/**
 * The next whole number or day, or the one before, as it is typed. `undefined` where there is none: for other
 * fields, and at a bound.
 */
export function nudged(asked: AskedField, typed: string, by: 1 | -1): string | undefined {
  const { field } = asked;
  const isDate = field.type === 'string' && field.format === 'date';
  if (!isDate && field.type !== 'integer') return undefined;
  const held = readEntry(asked, typed);
  const from = held.type === 'value' ? held.value : undefined;
  const next = isDate ? nextDay(from, by) : nextNumber(from, by, field);
  return next !== undefined && entryOf(asked, next).type === 'value' ? String(next) : undefined;
}

function nextNumber(from: unknown, by: number, field: AskedField['field']): number {
  if (typeof from === 'number') return from + by;
  return field.type === 'integer' ? Math.ceil(field.minimum ?? Math.min(0, field.maximum ?? 0)) : 0;
}

function nextDay(from: unknown, by: number): string | undefined {
  if (typeof from !== 'string') return dayOf(Date.now() - new Date().getTimezoneOffset() * 60_000);
  return dayOf(Date.parse(from) + by * DAY);
}

function dayOf(time: number): string | undefined {
  const text = new Date(time).toISOString();
  return /^\d{4}-/.test(text) ? text.slice(0, 10) : undefined;
}
