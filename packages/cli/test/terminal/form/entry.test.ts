import type { FormField } from 'mcp-parley/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entryOf, readEntry, typedText } from '../../../src/terminal/form/entry.js';
import { nudged } from '../../../src/terminal/form/nudge.js';
import { asked } from '../questions.js';

const TEXT: FormField = { type: 'string' };
const INTEGER: FormField = { type: 'integer', minimum: 1, maximum: 10 };
const DATE: FormField = { type: 'string', format: 'date' };
const DATE_TIME: FormField = { type: 'string', format: 'date-time' };

/** What a line becomes: its value, or what is said of it. */
function read(field: FormField, typed: string, presence: 'required' | 'optional' = 'required'): unknown {
  const entry = readEntry(asked(field, presence), typed);
  if (entry.type === 'value') return entry.value;
  return entry.type === 'fault' ? `! ${entry.reason}` : entry;
}

const zone = process.env['TZ'];
beforeEach(() => void (process.env['TZ'] = 'Asia/Kolkata'));
afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

describe('readEntry', () => {
  it.each([
    [TEXT, ' as typed ', ' as typed '],
    [TEXT, '""', ''],
    [TEXT, '', '! It is required. Type "" for an empty text.'],
    [{ ...TEXT, minLength: 1 }, '', '! It is required.'],
    [{ ...TEXT, minLength: 2 }, '""', '""'],
    [{ ...TEXT, minLength: 3 }, 'ab', '! It must have at least 3 characters.'],
    [{ ...TEXT, maxLength: 2 }, '😀😀', '😀😀'],
    [{ ...TEXT, maxLength: 2 }, 'abc', '! It must have at most 2 characters.'],
    [{ ...TEXT, format: 'email' }, ' ann@example.com ', 'ann@example.com'],
    [{ ...TEXT, format: 'email' }, 'ann', '! It must be an e-mail address.'],
    [{ ...TEXT, format: 'uri' }, 'example.com', '! It must be an absolute URI.'],
    [{ ...TEXT, format: 'uri' }, 'https://example.com/a', 'https://example.com/a'],
    [INTEGER, ' 7 ', 7],
    [INTEGER, '+7', 7],
    [INTEGER, '', '! It is required.'],
    [INTEGER, '1.5', '! It must be a whole number.'],
    [INTEGER, '0', '! It must be at least 1.'],
    [INTEGER, '11', '! It must be at most 10.'],
    [INTEGER, '1,5', '! It must be a number, as 12 or -0.5.'],
    [INTEGER, '0x7', '! It must be a number, as 12 or -0.5.'],
    [INTEGER, 'Infinity', '! It must be a number, as 12 or -0.5.'],
    [{ type: 'integer' }, '9007199254740993', '! It has more digits than can be sent exactly.'],
    [{ type: 'number' }, '-.5e1', -5],
    [{ type: 'number' }, '1e999', '! It must be a number.'],
    [DATE, '2026-3-9', '2026-03-09'],
    [DATE, '2026-02-30', '! It must be a date (YYYY-MM-DD).'],
    [DATE, 'today', '! It must be a date (YYYY-MM-DD).'],
    [DATE_TIME, '2026-03-09T14:30:00Z', '2026-03-09T14:30:00Z'],
    [DATE_TIME, '2026-3-9 9:05', '2026-03-09T09:05:00+05:30'],
    [DATE_TIME, '2026-02-30 14:30', '! It must be a date and time (RFC 3339).'],
    [DATE_TIME, '2026-03-09', '! It must be a date and time (RFC 3339).'],
  ] as const)('%j: %j is %j (FORM-19)', (field, typed, value) => {
    expect(read(field, typed)).toBe(value);
  });

  it.each([TEXT, INTEGER, DATE, DATE_TIME, { ...TEXT, format: 'email' } as const])(
    'an empty line leaves an optional %j out',
    (field) => {
      expect(read(field, '', 'optional')).toEqual({ type: 'left-out' });
    },
  );

  it('tells an empty text from a text that is left out', () => {
    expect(read(TEXT, '""', 'optional')).toBe('');
  });

  it.each([
    [TEXT, ''],
    [TEXT, 'x'],
    [INTEGER, 3],
    [{ type: 'number' } as const, -0.25],
    [DATE, '2026-03-09'],
  ])('reads what it writes: %j, %j', (field, value) => {
    expect(read(field, typedText(value))).toBe(value);
  });
});

describe('entryOf', () => {
  it('says what is wrong without the name, whatever the name is', () => {
    const field = asked({ type: 'integer', maximum: 1 });
    for (const name of ['', "it's", '__proto__', 'a.b', '\u001b[2J']) {
      const properties = { [name]: field.field };
      const question = { ...field.question, schema: { type: 'object', properties } as const };
      expect(entryOf({ ...field, question, name }, 2)).toEqual({
        type: 'fault',
        reason: 'It must be at most 1.',
      });
    }
  });
});

describe('nudged', () => {
  it.each([
    [INTEGER, '5', 1, '6'],
    [INTEGER, '5', -1, '4'],
    [INTEGER, '10', 1, undefined],
    [INTEGER, '', 1, '1'],
    [INTEGER, 'x', -1, '1'],
    [{ type: 'integer', maximum: -3 } as const, '', 1, '-3'],
    [DATE, '2026-2-28', 1, '2026-03-01'],
    [DATE, '2024-02-28', 1, '2024-02-29'],
    [DATE, '2026-01-01', -1, '2025-12-31'],
    [DATE, '9999-12-31', 1, undefined],
    [TEXT, 'a', 1, undefined],
    [{ type: 'number' } as const, '1', 1, undefined],
  ] as const)('%j: %j by %i is %j', (field, typed, by, next) => {
    expect(nudged(asked(field), typed, by)).toBe(next);
  });

  it('begins with today, by the calendar of this machine', () => {
    const { length } = nudged(asked(DATE), '', 1) ?? '';
    expect(length).toBe('2026-03-09'.length);
  });
});
