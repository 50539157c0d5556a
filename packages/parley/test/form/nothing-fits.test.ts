import { describe, expect, it } from 'vitest';
import { nothingFits, type FormField } from '../../src/form/index.js';

const titled = (...values: string[]) => values.map((value) => ({ const: value, title: value }));

describe('a field', () => {
  it.each<[string, FormField]>([
    ['text shorter than it is long', { type: 'string', minLength: 3, maxLength: 2 }],
    ['a date in nine characters', { type: 'string', format: 'date', maxLength: 9 }],
    ['a date in eleven characters', { type: 'string', format: 'date', minLength: 11 }],
    ['an e-mail address in four', { type: 'string', format: 'email', maxLength: 4 }],
    ['a choice of texts that are too short', { type: 'string', enum: ['a', 'bb'], minLength: 3 }],
    ['a choice of texts that are no dates', { type: 'string', oneOf: titled('x'), format: 'date' }],
    ['a number below its minimum', { type: 'number', minimum: 2, maximum: 1.5 }],
    ['a whole number between two', { type: 'integer', minimum: 0.2, maximum: 0.8 }],
    [
      'more choices than at most',
      { type: 'array', items: { anyOf: titled('a', 'b') }, minItems: 2, maxItems: 1 },
    ],
    ['more choices than there are', { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 2 }],
    ['one choice twice', { type: 'array', items: { type: 'string', enum: ['a', 'a'] }, minItems: 2 }],
  ])('that nothing fits: %s', (_, field) => {
    expect(nothingFits(field)).toBe(true);
  });

  it.each<[string, FormField]>([
    ['any text', { type: 'string' }],
    ['the empty text', { type: 'string', maxLength: 0 }],
    ['a text of one length', { type: 'string', minLength: 2, maxLength: 2 }],
    ['a date', { type: 'string', format: 'date', minLength: 10, maxLength: 10 }],
    ['one of the choices', { type: 'string', enum: ['a', 'bbb'], minLength: 3 }],
    ['one number', { type: 'number', minimum: 1.5, maximum: 1.5 }],
    ['one whole number', { type: 'integer', minimum: 0.2, maximum: 1.8 }],
    ['no choice at all', { type: 'array', items: { type: 'string', enum: ['a'] }, maxItems: 0 }],
    ['each choice once', { type: 'array', items: { type: 'string', enum: ['a', 'a', 'b'] }, minItems: 2 }],
    ['yes or no', { type: 'boolean' }],
  ])('that something fits: %s', (_, field) => {
    expect(nothingFits(field)).toBe(false);
  });

  it('of very many choices that do not fit is told in no time', () => {
    const choices = Array.from({ length: 200_000 }, (_, i) => `${i}`);
    expect(nothingFits({ type: 'string', enum: choices, minLength: 100 })).toBe(true);
  });
});
