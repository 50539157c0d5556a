import { describe, expect, it } from 'vitest';
import { NotJson } from '../../src/errors.js';
import { recordable } from '../../src/flow/json.js';

class Release {
  readonly id = 1;
}

function anonymous(): object {
  const [first] = [
    class {
      readonly id = 1;
    },
  ];
  return first === undefined ? {} : new first();
}

function refusal(value: unknown): { path: string; found: string } | 'recorded' {
  try {
    recordable('build', value);
    return 'recorded';
  } catch (error) {
    if (error instanceof NotJson) return { path: error.path, found: error.found };
    throw error;
  }
}

function cycle(): unknown {
  const value: Record<string, unknown> = { list: [] };
  (value['list'] as unknown[]).push({ back: value });
  return value;
}

describe('recordable', () => {
  it.each([
    ['null', null],
    ['text', 'a"\\\u0000\u2028😀'],
    ['a lone surrogate', '\ud800'],
    ['numbers', [0, -1, 1.5, 1e308, 5e-324, Number.MAX_SAFE_INTEGER]],
    ['booleans', [true, false]],
    ['nothing in it', [{}, []]],
    ['members', { a: { b: [{ c: null }] } }],
    ['names that objects inherit', { constructor: 1, toString: 2, hasOwnProperty: 3 }],
    ['the empty name', { '': 1 }],
  ])('records %s as JSON gives it back', (_, value) => {
    const copy = recordable('build', value);
    expect(copy).toEqual(value);
    expect(copy).toStrictEqual(JSON.parse(JSON.stringify(value)));
  });

  it('turns -0 into 0, as JSON does', () => {
    expect(Object.is(recordable('build', -0), 0)).toBe(true);
    expect(Object.is((recordable('build', [-0]) as number[])[0], 0)).toBe(true);
  });

  it.each([
    ['a function', () => 1, 'result', 'a value of type function'],
    ['a method', { run: () => 1 }, 'result.run', 'a value of type function'],
    ['a toJSON method', { toJSON: () => 1 }, 'result.toJSON', 'a value of type function'],
    ['undefined inside an object', { a: { b: undefined } }, 'result.a.b', 'a value of type undefined'],
    ['undefined inside a list', [1, undefined], 'result[1]', 'a value of type undefined'],
    ['a hole', Array.from({ length: 1 }).concat(Array(1)), 'result[0]', 'a value of type undefined'],
    [
      'a hole in the middle',
      { list: Object.assign(Array<number>(3), { 0: 1, 2: 3 }) },
      'result.list[1]',
      'a value of type undefined',
    ],
    ['NaN', { n: Number.NaN }, 'result.n', 'the number NaN'],
    ['Infinity', [Number.POSITIVE_INFINITY], 'result[0]', 'the number Infinity'],
    ['-Infinity', Number.NEGATIVE_INFINITY, 'result', 'the number -Infinity'],
    ['a BigInt', { n: [1n] }, 'result.n[0]', 'a value of type bigint'],
    ['a symbol', { s: Symbol('s') }, 'result.s', 'a value of type symbol'],
    ['a Date', { at: new Date(0) }, 'result.at', 'an instance of Date'],
    ['a Map', { map: new Map() }, 'result.map', 'an instance of Map'],
    ['a Set', new Set(), 'result', 'an instance of Set'],
    ['bytes', { bytes: new Uint8Array(1) }, 'result.bytes', 'an instance of Uint8Array'],
    ['an Error', { error: new TypeError('x') }, 'result.error', 'an instance of TypeError'],
    ['a boxed text', { text: Object('x') as unknown }, 'result.text', 'an instance of String'],
    ['a promise', { later: Promise.resolve(1) }, 'result.later', 'an instance of Promise'],
    ['an instance of a class', [{ release: new Release() }], 'result[0].release', 'an instance of Release'],
    ['an instance of an anonymous class', anonymous(), 'result', 'an instance of a class'],
    [
      'a member named __proto__',
      JSON.parse('{"a":{"__proto__":{"x":1}}}'),
      'result.a',
      `a member named '__proto__'`,
    ],
    ['a cycle', cycle(), 'result.list[0].back', 'a cycle'],
  ])('refuses %s and names its path', (_, value, path, found) => {
    expect(refusal(value)).toEqual({ path, found });
  });

  it('names the step and no value', () => {
    expect(() => recordable('build', { password: 'hunter2', at: new Date(0) })).toThrow(
      `The result of step 'build' cannot be recorded: an instance of Date at result.at. Results are JSON values.`,
    );
  });

  it('takes objects without a prototype', () => {
    const value: unknown = Object.assign(Object.create(null) as object, { a: 1 });
    expect(recordable('build', value)).toStrictEqual({ a: 1 });
  });

  it('takes shared references that are no cycle, and copies each', () => {
    const shared = { n: 1 };
    const copy = recordable('build', { a: shared, b: [shared, shared] }) as { a: object; b: object[] };
    expect(copy).toEqual({ a: { n: 1 }, b: [{ n: 1 }, { n: 1 }] });
    expect(new Set([shared, copy.a, ...copy.b]).size).toBe(4);
  });

  it('copies: later changes of the value do not reach the record', () => {
    const value = { list: [{ n: 1 }] };
    const copy = recordable('build', value);
    value.list[0] = { n: 2 };
    value.list.push({ n: 3 });
    expect(copy).toEqual({ list: [{ n: 1 }] });
  });

  it('refuses nesting that would overflow the stack of a reader, instead of overflowing itself', () => {
    const nested = (depth: number): unknown => {
      let value: unknown = 1;
      for (let index = 0; index < depth; index += 1) value = [value];
      return value;
    };
    expect(refusal(nested(256))).toBe('recorded');
    expect(refusal(nested(257))).toMatchObject({ found: 'nesting deeper than 256' });
    expect(refusal(nested(100_000))).toMatchObject({ found: 'nesting deeper than 256' });
  });
});
