import { describe, expect, it } from 'vitest';
import {
  choicesOf,
  demandsOf,
  looksSecret,
  titleOf,
  wordsOf,
} from '../../../src/terminal/form/describe-field.js';

describe('choicesOf', () => {
  it('shows titles and answers with values, in every way that a schema may say them (FORM-12 to FORM-16)', () => {
    const titled = [{ value: 'eu', label: 'Europe' }];
    expect(choicesOf({ type: 'string', enum: ['eu'] })).toEqual([{ value: 'eu', label: 'eu' }]);
    expect(choicesOf({ type: 'string', enum: ['eu'], enumNames: ['Europe'] })).toEqual(titled);
    expect(choicesOf({ type: 'string', oneOf: [{ const: 'eu', title: 'Europe' }] })).toEqual(titled);
    expect(choicesOf({ type: 'array', items: { type: 'string', enum: ['eu'] } })).toHaveLength(1);
    expect(choicesOf({ type: 'array', items: { anyOf: [{ const: 'eu', title: 'Europe' }] } })).toEqual(
      titled,
    );
    expect(choicesOf({ type: 'string' })).toBeUndefined();
  });

  it('tells choices apart that would read alike', () => {
    const oneOf = [
      { const: 'a', title: 'Keep' },
      { const: 'b', title: 'Keep' },
      { const: 'c', title: 'Drop' },
    ];
    const labels = choicesOf({ type: 'string', oneOf })?.map(({ label }) => label);
    expect(labels).toEqual(['Keep (a)', 'Keep (b)', 'Drop']);
  });

  it('has something to show for a choice without a name', () => {
    const labels = choicesOf({ type: 'string', enum: ['', ' \n', 'x'] })?.map(({ label }) => label);
    expect(labels).toEqual(['(empty text)', '" \\n"', 'x']);
  });
});

describe('demandsOf', () => {
  it.each([
    [{ type: 'string' }, ''],
    [{ type: 'string', minLength: 0, maxLength: 5 }, 'at most 5 characters'],
    [
      { type: 'string', minLength: 2, format: 'uri' },
      'address, as https://example.com; at least 2 characters',
    ],
    [{ type: 'string', minLength: 4, maxLength: 4 }, '4 characters'],
    [{ type: 'integer', minimum: 0 }, 'whole number, at least 0'],
    [{ type: 'number', minimum: -1, maximum: 1.5 }, 'number, -1 to 1.5'],
    [{ type: 'number' }, 'number'],
    [{ type: 'boolean' }, 'yes or no'],
    [{ type: 'string', enum: ['a'] }, 'choose one'],
    [{ type: 'array', minItems: 0, items: { type: 'string', enum: ['a'] } }, 'choose any'],
    [
      { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b'] } },
      'choose 1 to 2',
    ],
  ] as const)('%j: %s', (field, words) => {
    expect(demandsOf(field).join('; ')).toBe(words);
  });
});

describe('wordsOf', () => {
  it('tells what is left out, empty and none apart', () => {
    const choices = { type: 'array', items: { anyOf: [{ const: 'a', title: 'Ann' }] } } as const;
    expect(wordsOf({ type: 'string' }, undefined)).toBe('left out');
    expect(wordsOf({ type: 'string' }, '')).toBe('(empty text)');
    expect(wordsOf(choices, [])).toBe('none');
    expect(wordsOf(choices, ['a'])).toBe('Ann');
    expect(wordsOf({ type: 'boolean' }, false)).toBe('no');
    expect(wordsOf({ type: 'integer' }, 0)).toBe('0');
    expect(wordsOf({ type: 'string' }, 'a\nb\u202e')).toBe('a\\nb\\u202e');
  });
});

describe('titleOf', () => {
  it('is the title, else the name, else says that there is none', () => {
    expect(titleOf('region', { type: 'string', title: 'Re\u200bgion\n2' })).toBe('Re\\u200bgion 2');
    expect(titleOf('region', { type: 'string' })).toBe('region');
    expect(titleOf('', { type: 'string', title: '' })).toBe('(no name)');
  });
});

describe('looksSecret', () => {
  it.each([
    ['password', undefined],
    ['db_passwd', undefined],
    ['apiKey', undefined],
    ['x', 'API key'],
    ['x', 'Access-token'],
    ['token', undefined],
    ['x', 'Credit card number'],
    ['cvv', undefined],
    ['pin_code', undefined],
    ['x', 'One-time code'],
    ['x', 'Recovery phrase'],
    ['clientSecret', undefined],
  ])('warns of %s %s (FORM-21)', (name, title) => {
    expect(looksSecret(name, { type: 'string', ...(title !== undefined && { title }) })).toBe(true);
  });

  it.each([
    ['email', 'E-mail'],
    ['username', 'User name'],
    ['shipping', 'Shipping address'],
    ['keyboard', 'Keyboard layout'],
    ['opinion', 'Your opinion'],
    ['passenger', 'Passenger'],
    ['postcode', 'Post code'],
  ])('does not warn of %s (FORM-22)', (name, title) => {
    expect(looksSecret(name, { type: 'string', title })).toBe(false);
  });

  it('reads descriptions too, and does not warn where nothing is typed', () => {
    expect(looksSecret('x', { type: 'string', description: 'Enter your password.' })).toBe(true);
    expect(looksSecret('password', { type: 'boolean' })).toBe(false);
    expect(looksSecret('token', { type: 'string', enum: ['a', 'b'] })).toBe(false);
  });
});
