import { expect, it } from 'vitest';
import { violationsOf } from '../../../src/audit/judge/violations.js';

const SCHEMA = {
  type: 'object',
  properties: {
    mail: { type: 'string', format: 'email' },
    seats: { type: 'integer', minimum: 1, maximum: 5 },
    plan: { type: 'string', enum: ['small', 'large'] },
  },
  required: ['seats'],
  additionalProperties: false,
};
const GOOD = { mail: 'ann@example.com', seats: 2, plan: 'small' };

it('breaks a schema in one place at a time', () => {
  const violations = violationsOf(SCHEMA, GOOD);
  expect(violations.map(({ name }) => name)).toEqual([
    'seats left out',
    'mail of another type',
    'mail no email',
    'seats of another type',
    'seats under its minimum',
    'seats over its maximum',
    'seats with a fraction',
    'plan of another type',
    'plan none of the choices',
    'an extra member',
  ]);
  const [left, ...others] = violations;
  expect(left?.value).toEqual({ mail: 'ann@example.com', plan: 'small' });
  for (const { value } of others) {
    const wrong = Object.entries(value).filter(
      ([name, member]) => GOOD[name as keyof typeof GOOD] !== member,
    );
    expect(wrong).toHaveLength(1);
  }
});

it('knows what a reader may take as an annotation', () => {
  const mild = violationsOf(SCHEMA, GOOD).filter(({ isMild }) => isMild);
  expect(mild.map(({ name }) => name)).toEqual(['mail no email']);
});

it.each([[undefined], [{}], [{ type: 'object' }], [[]]])('has nothing to break in %j', (schema) => {
  expect(violationsOf(schema, GOOD)).toEqual([]);
});
