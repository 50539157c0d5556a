import { expect, test } from 'vitest';
import { otherArguments } from '../../../src/audit/state/other-arguments.js';
import type { JsonObject } from '../../../src/audit/wire/message.js';

function changed(given: JsonObject, properties?: JsonObject) {
  const inputSchema = properties && { inputSchema: { type: 'object', properties } };
  return otherArguments({ arguments: given, ...inputSchema }).map(({ changed: other }) => other);
}

test('changes one argument at a time, and adds one that may be there (STATE-07)', () => {
  expect(changed({ to: 'ann', amount: 5 }, { to: {}, amount: {}, note: { type: 'string' } })).toEqual([
    { to: 'annx', amount: 5 },
    { to: 'ann', amount: 6 },
    { to: 'ann', amount: 5, note: 'x' },
  ]);
});

test.for([
  ['another choice', { type: 'string', enum: ['a', 'b'] }, 'a', 'b'],
  ['a number within its range', { type: 'number', minimum: 1, maximum: 5 }, 5, 4],
  ['a multiple', { type: 'integer', multipleOf: 10 }, 20, 30],
  ['a text of the same length, where no longer one fits', { type: 'string', maxLength: 3 }, 'abc', 'abx'],
  ['the other boolean', { type: 'boolean' }, true, false],
] as const)('stays within the schema: %s', ([, schema, value, other]) => {
  expect(changed({ field: value }, { field: schema as unknown as JsonObject })).toEqual([{ field: other }]);
});

test.for([
  [{ const: 'a' }, 'a'],
  [{ enum: ['a'] }, 'a'],
  [{ type: 'number', minimum: 3, maximum: 3 }, 3],
  [{ type: 'string', pattern: '^a+$' }, 'a'],
  [{ type: 'string', format: 'date' }, '2030-01-01'],
  [{ type: 'array' }, []],
] as const)('leaves alone what no other value is sure to fit: %j', ([schema, value]) => {
  expect(changed({ field: value }, { field: schema as unknown as JsonObject })).toEqual([]);
});
