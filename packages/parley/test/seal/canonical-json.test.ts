import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Uncanonical } from '../../src/errors.js';
import { canonicalJson } from '../../src/seal/canonical-json.js';

const canonical = (value: unknown) => canonicalJson(value, 64);
const parse = (text: string) => JSON.parse(text) as unknown;

/** Any JSON value as a parser gives it, with full Unicode and unpleasant keys. */
const jsonText = fc.oneof(
  fc.json({ stringUnit: 'binary' }),
  fc
    .dictionary(
      fc.oneof(
        fc.constantFrom('__proto__', 'constructor', 'toJSON', '10', '9', '', '\u{1f600}', '\uff5e'),
        fc.string({ unit: 'binary' }),
      ),
      fc.jsonValue(),
    )
    .map((value) => JSON.stringify(value)),
);

function message(value: unknown, maxDepth = 64): string {
  try {
    canonicalJson(value, maxDepth);
  } catch (error) {
    if (error instanceof Uncanonical) return error.message;
    throw error;
  }
  return 'accepted';
}

/** The same value with the keys of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const copy: unknown = Object.create(null);
  for (const [key, item] of Object.entries(value).toReversed()) {
    Object.defineProperty(copy, key, { value: reversed(item), enumerable: true });
  }
  return copy;
}

describe('canonicalJson', () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['{"10":1,"9":2,"a":3}', '{"10":1,"9":2,"a":3}'],
    ['{"\u{1f600}":1,"\uff5e":2}', '{"\u{1f600}":1,"\uff5e":2}'],
    ['{"\uff5e":2,"\u{1f600}":1}', '{"\u{1f600}":1,"\uff5e":2}'],
    ['{"__proto__":{"b":1,"a":1},"a":0}', '{"__proto__":{"a":1,"b":1},"a":0}'],
    ['[1.0,-0,1e3,1e21,0.1,5e-324]', '[1,0,1000,1e+21,0.1,5e-324]'],
    [' [ true , false , null , "\\u00e9\\n\\u2028" ] ', '[true,false,null,"é\\n\u2028"]'],
    ['{}', '{}'],
    ['[]', '[]'],
    ['{"toJSON":1}', '{"toJSON":1}'],
  ])('writes %s as %s', (text, expected) => {
    expect(canonical(parse(text))).toBe(expected);
  });

  it('takes objects without a prototype', () => {
    expect(canonical(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
  });

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const value = parse(text);
        fc.pre(message(value) === 'accepted');
        expect(canonical(reversed(value))).toBe(canonical(value));
      }),
    );
  });

  it('can be read back to the same value, so that no two values read the same', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        const value = parse(text.replaceAll('-0', '0'));
        fc.pre(message(value) === 'accepted');
        expect(isDeepStrictEqual(parse(canonical(value)), value)).toBe(true);
      }),
    );
  });

  it('is equal for two values exactly if they are equal as JSON', () => {
    const small = fc.jsonValue({ maxDepth: 2, stringUnit: fc.constantFrom('a', '"', ',', ':') });
    fc.assert(
      fc.property(small, small, (a, b) => {
        const [left, right] = [a, b].map((value) => parse(JSON.stringify(value)));
        expect(canonical(left) === canonical(right)).toBe(isDeepStrictEqual(left, right));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['a lone surrogate in a string', { a: ['x', '\ud800'] }, 'a lone surrogate at $.a[1]'],
    ['a lone surrogate at the top', '\udc00x', 'a lone surrogate at $'],
    ['a lone surrogate in a key', { a: { '\ud800': 1 } }, 'a lone surrogate at $.a["\\ud800"]'],
    ['NaN', { a: Number.NaN }, 'a number that is not finite at $.a'],
    ['Infinity', [Number.POSITIVE_INFINITY], 'a number that is not finite at $[0]'],
    ['an overflowing literal', parse('{"n":1e999}'), 'a number that is not finite at $.n'],
    ['undefined', { a: undefined }, 'a value of type undefined at $.a'],
    ['a hole', [1, , 2], 'a value of type undefined at $[1]'], // eslint-disable-line no-sparse-arrays
    ['a function', { a: () => 1 }, 'a value of type function at $.a'],
    ['a bigint', { a: 1n }, 'a value of type bigint at $.a'],
    ['a symbol', [Symbol('s')], 'a value of type symbol at $[0]'],
    ['a Date', { when: new Date(0) }, 'an instance of a class at $.when'],
    ['a Map', new Map([['a', 1]]), 'an instance of a class at $'],
    [
      'a path that leads back up',
      { a: { b: 1 }, c: [[1], Number.NaN] },
      'a number that is not finite at $.c[1]',
    ],
  ])('refuses %s, and names the path', (_, value, expected) => {
    expect(message(value)).toBe(`There is no canonical JSON for ${expected}.`);
  });

  it('counts depth by arrays and objects', () => {
    expect(canonicalJson(1, 0)).toBe('1');
    expect(canonicalJson({ a: [1] }, 2)).toBe('{"a":[1]}');
    expect(message({}, 0)).toContain('nesting deeper than 0 at $.');
    expect(message({ a: [[1]] }, 2)).toContain('nesting deeper than 2 at $.a[0].');
  });

  it('ends on cycles and on very deep values', () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(message(cycle)).toContain('nesting deeper than 64');
    expect(message(parse('['.repeat(5000) + ']'.repeat(5000)))).toContain('nesting deeper than 64');
  });

  it('names no value, quotes unusual keys, and cuts long paths', () => {
    expect(message({ secret: 'hunter2\ud800' })).not.toContain('hunter2');
    expect(message({ 'a\nb': Number.NaN })).toContain('at $["a\\nb"].');
    expect(message({ ['x'.repeat(10_000)]: Number.NaN }).length).toBeLessThan(300);
  });
});
