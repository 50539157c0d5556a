import { describe, expect, it } from 'vitest';
import { checkContent } from '../../src/form/check-content.js';
import type { FormField, RestrictedSchema } from '../../src/form/restricted-schema.js';

const schemaOf = (field: FormField): RestrictedSchema => ({
  type: 'object',
  properties: { field },
  required: ['field'],
});

function check(field: FormField, value: unknown): string {
  const result = checkContent(schemaOf(field), { field: value });
  return result.ok ? 'ok' : result.reason;
}

const format = (name: 'email' | 'uri' | 'date' | 'date-time') => ({ type: 'string', format: name }) as const;
const choices = {
  type: 'array',
  items: { type: 'string', enum: ['a', 'b', 'c'] },
  minItems: 1,
  maxItems: 2,
} as const;
const titled = {
  type: 'array',
  items: {
    anyOf: [
      { const: 'a', title: 'A' },
      { const: 'b', title: 'B' },
    ],
  },
} as const;

describe('checkContent, FORM-20: by type', () => {
  it.each<[string, FormField, unknown[], unknown[]]>([
    ['text', { type: 'string' }, ['', 'x', '\u0000'], [1, true, null, [], {}, ['x']]],
    [
      'number',
      { type: 'number' },
      [0, -1.5, 1e300],
      ['1', true, null, [1], Number.POSITIVE_INFINITY, Number.NaN],
    ],
    ['whole number', { type: 'integer' }, [0, -7, 1e15], [0.5, '1', null]],
    ['bounded number', { type: 'number', minimum: 0, maximum: 1 }, [0, 0.5, 1], [-0.1, 1.1]],
    ['boolean', { type: 'boolean' }, [true, false], ['true', 1, 0, null]],
    ['enum (FORM-12)', { type: 'string', enum: ['a', 'b'] }, ['a', 'b'], ['A', 'c', '', 'constructor']],
    [
      'titled enum, by const (FORM-13)',
      { type: 'string', oneOf: [{ const: 'a', title: 'A' }] },
      ['a'],
      ['A', 'b'],
    ],
    [
      'choices (FORM-14)',
      choices,
      [['a'], ['c', 'a']],
      [[], ['a', 'b', 'c'], ['d'], 'a', [1], [['a']], { 0: 'a', length: 1 }],
    ],
    ['titled choices (FORM-15)', titled, [[], ['b', 'a']], [['A'], ['c']]],
    ['choices named twice (GAP-34)', titled, [], [['a', 'a']]],
  ])('%s', (_, field, good, bad) => {
    for (const value of good) expect(check(field, value), JSON.stringify(value)).toBe('ok');
    for (const value of bad)
      expect(check(field, value), JSON.stringify(value)).toMatch(/^'field' (must|needs|takes)/);
  });

  it('counts code points, not UTF-16 units', () => {
    const field = { type: 'string', minLength: 2, maxLength: 3 } as const;
    expect(check(field, '😀')).toMatch(/at least 2/);
    expect(check(field, '😀😀')).toBe('ok');
    expect(check(field, '😀😀😀')).toBe('ok');
    expect(check(field, '😀😀😀😀')).toMatch(/at most 3/);
    expect(check(field, '\ud800\ud800')).toBe('ok');
  });
});

describe('checkContent, GAP-33: formats', () => {
  it.each([
    [
      'date',
      ['2026-07-28', '2024-02-29', '2000-02-29', '0000-02-29', '9999-12-31'],
      [
        '2026-02-30',
        '2026-02-29',
        '1900-02-29',
        '2100-02-29',
        '2026-13-01',
        '2026-00-10',
        '2026-01-00',
        '2026-04-31',
        '26-01-01',
        '2026-1-1',
        '2026-01-01T00:00:00Z',
        ' 2026-01-01',
        '2026-01-01\n',
        '２０２６-01-01',
        '',
      ],
    ],
    [
      'date-time',
      [
        '2026-07-28T00:00:00Z',
        '2026-07-28t23:59:59z',
        '2026-07-28T12:00:00.123456789+05:30',
        '2026-07-28T12:00:00-23:59',
        '1998-12-31T23:59:60Z',
        '2024-02-29T00:00:00+00:00',
      ],
      [
        '2026-07-28',
        '2026-07-28T12:00Z',
        '2026-07-28T12:00:00',
        '2026-07-28T24:00:00Z',
        '2026-07-28T12:60:00Z',
        '2026-07-28T12:00:61Z',
        '2026-07-28T12:00:00+24:00',
        '2026-07-28T12:00:00+05:60',
        '2026-07-28T12:00:00+0530',
        '2026-02-30T12:00:00Z',
        '2026-07-28T12:00:00.Z',
        '2026-07-28T12:00:00Z\n',
      ],
    ],
    [
      'email',
      ['a@example.com', 'a.b+c@sub.example.co', 'ä@例え.jp'],
      [
        '',
        'a',
        '@example.com',
        'a@',
        'a@example',
        'a@@example.com',
        'a b@example.com',
        'a@exa mple.com',
        'a@example.',
        'a@.com',
        'a@a..com',
        'a@example.com\n',
      ],
    ],
    [
      'uri',
      ['https://example.com', 'http://localhost:3000/a?b#c', 'urn:isbn:0451450523', 'mailto:a@example.com'],
      ['', 'example.com', '/a', '//example.com', 'https://', 'https://exa mple.com'],
    ],
    [
      'uri',
      [],
      [' https://example.com', 'https://example.com\n', 'https://example.com/a b', 'java\nscript:alert(1)'],
    ],
  ] as const)('%s', (name, good, bad) => {
    for (const value of good) expect(check(format(name), value), JSON.stringify(value)).toBe('ok');
    for (const value of bad)
      expect(check(format(name), value), JSON.stringify(value)).toMatch(/^'field' must be/);
  });

  it('takes time in proportion to the length of what is checked', () => {
    const started = performance.now();
    for (const hostile of [
      'a@'.repeat(30_000),
      `a@${'a.'.repeat(30_000)}`,
      `a@${'.'.repeat(60_000)}`,
      `${'a'.repeat(60_000)}@`,
    ]) {
      expect(check(format('email'), hostile)).not.toBe('ok');
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('checkContent: the object', () => {
  const schema: RestrictedSchema = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'integer' } },
    required: ['a'],
  };

  it('keeps the declared fields and drops what was not asked for (MRTR-S-13)', () => {
    const content = JSON.parse('{"a":"x","b":1,"c":2,"__proto__":{"admin":true},"constructor":1}') as unknown;
    expect(checkContent(schema, content)).toStrictEqual({ ok: true, content: { a: 'x', b: 1 } });
  });

  it('leaves out optional fields that are missing, and applies no default (GAP-35)', () => {
    const withDefault: RestrictedSchema = {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' } },
    };
    expect(checkContent(withDefault, {})).toStrictEqual({ ok: true, content: {} });
  });

  it('names every fault by its field, and never a value', () => {
    expect(checkContent(schema, { b: 'hunter2' })).toEqual({
      ok: false,
      reason: `'a' is missing; 'b' must be a whole number.`.replace('a whole number', 'a number'),
    });
  });

  it.each([
    ['undefined', undefined],
    ['null', null],
    ['a list', ['a']],
    ['a text', 'a'],
    ['a number', 1],
  ])('refuses content that is %s (GAP-15)', (_, content) => {
    expect(checkContent(schema, content)).toMatchObject({ ok: false });
  });

  it('does not take what every object inherits for a field', () => {
    for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
      const inherited: RestrictedSchema = {
        type: 'object',
        properties: { [name]: { type: 'string' } },
        required: [name],
      };
      expect(checkContent(inherited, {})).toEqual({ ok: false, reason: `'${name}' is missing.` });
      expect(checkContent(inherited, { [name]: 'x' })).toEqual({ ok: true, content: { [name]: 'x' } });
    }
  });
});
