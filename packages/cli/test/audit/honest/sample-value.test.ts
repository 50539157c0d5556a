import { expect, it } from 'vitest';
import { sampleValue } from '../../../src/audit/honest/sample-value.js';
import type { JsonObject } from '../../../src/audit/wire/message.js';

it.each<[string, JsonObject, unknown]>([
  ['a constant', { const: 5, default: 6 }, 5],
  ['a default', { type: 'string', default: 'x', enum: ['y', 'x'] }, 'x'],
  ['a yes, whatever the default', { type: 'boolean', default: false }, true],
  ['the first of several', { enum: ['eu', 'us'] }, 'eu'],
  [
    'the first choice with a title',
    { type: 'string', oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
    'a',
  ],
  ['what is not null', { anyOf: [{ type: 'null' }, { type: 'integer', minimum: 3 }] }, 3],
  ['the least', { type: 'number', minimum: 2.5 }, 2.5],
  ['a whole number above', { type: 'integer', exclusiveMinimum: 2.5 }, 4],
  ['a number below', { type: 'integer', maximum: -3 }, -3],
  ['a multiple', { type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  ['a date', { type: 'string', format: 'date' }, '2030-01-15'],
  ['an e-mail', { type: 'string', format: 'email' }, 'audit@example.com'],
  ['a long text', { type: 'string', minLength: 8 }, 'auditaud'],
  ['a short text', { type: 'string', maxLength: 2 }, 'au'],
  ['an empty list', { type: 'array', items: { type: 'string' } }, []],
  ['different items', { type: 'array', minItems: 2, items: { enum: ['a', 'b', 'c'] } }, ['a', 'b']],
  [
    'items with titles',
    { type: 'array', minItems: 2, items: { anyOf: [{ const: 1 }, { const: 2 }] } },
    [1, 2],
  ],
  ['what is referred to', { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'integer' } } }, 1],
  [
    'all of several',
    { allOf: [{ properties: { a: { type: 'null' } }, required: ['a'] }, { required: ['b'] }] },
    { a: null, b: 'audit' },
  ],
  [
    'what is required, and what has a default',
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, c: { default: 1 }, d: { type: 'boolean' } },
      required: ['a'],
    },
    { a: 'audit', c: 1 },
  ],
  [
    'a confirmation that is not required',
    { type: 'object', properties: { ok: { type: 'boolean' } } },
    { ok: true },
  ],
])('makes %s', (_, schema, value) => {
  expect(sampleValue(schema)).toEqual(value);
});

it('ends in a schema without an end', () => {
  const schema: JsonObject = { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] };
  expect(JSON.stringify(sampleValue(schema))).toContain('audit');
});

it('stays small for a schema that refers to itself over and over', () => {
  const names = Array.from({ length: 20 }, (_, nth) => `field${nth}`);
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: '#' }]));
  const made = sampleValue({ type: 'object', properties, required: names });
  expect(JSON.stringify(made).length).toBeLessThan(200_000);
  const list: JsonObject = { type: 'array', minItems: 100, items: { $ref: '#' } };
  expect(JSON.stringify(sampleValue(list)).length).toBeLessThan(200_000);
  const texts = { type: 'array', minItems: 100, items: { type: 'string', minLength: 100_000 } };
  expect(JSON.stringify(sampleValue(texts)).length).toBeLessThan(300_000);
});

it('takes more schemas together than a call takes arguments', () => {
  const allOf = Array.from({ length: 200_000 }, () => ({ type: 'string' }));
  expect(sampleValue({ allOf })).toBe('audit');
});
