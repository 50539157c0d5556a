import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrub } from '../../src/client/scrub.js';

/** What is left of a message. */
function scrubbed(message: string, secret: string): string {
  const error = new Error(message);
  scrub(error, secret, '[x]');
  return error.message;
}

describe('scrub', () => {
  const secret = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH';

  it('puts one mark in place of what it takes out, and keeps the rest', () => {
    expect(scrubbed(`got ${secret}, and no more`, secret)).toBe('got [x], and no more');
    expect(scrubbed(`${secret}${secret}`, secret)).toBe('[x]');
    expect(scrubbed(`1${secret}2${secret}3`, secret)).toBe('1[x]2[x]3');
  });

  it('leaves alone what is no part of the secret, and secrets that are none', () => {
    const message = 'Error POSTing to endpoint: abcdefghijklmno';
    expect(scrubbed(message, secret)).toBe(message);
    expect(scrubbed('a short one: abc', 'abc')).toBe('a short one: abc');
  });

  it('finds every part of a secret that is long enough, wherever it was cut', () => {
    const text = fc.string({ minLength: 8, maxLength: 300, unit: 'binary' });
    const part = fc.tuple(text, fc.nat(), fc.integer({ min: 24, max: 80 }), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(part, ([whole, from, length, around]) => {
        const start = from % whole.length;
        const piece = whole.slice(start, start + length);
        fc.pre(piece.length >= 24);
        expect(scrubbed(`${around}<${piece}>${around}`, whole)).not.toContain(piece);
      }),
    );
  });

  it('cleans what errors hold of others, in circles too, and touches no bytes', () => {
    const inner = new Error(secret, { cause: { [secret]: [secret] } });
    const error = Object.assign(new AggregateError([inner], 'x', { cause: inner }), {
      bytes: Buffer.alloc(9),
    });
    Object.assign(inner, { outer: error });
    scrub(error, secret, '[x]');
    expect(error.errors[0]).toBe(inner);
    expect(inner.message).toBe('[x]');
    expect(inner.stack).not.toContain(secret);
    expect(inner.cause).toEqual({ '[x]': ['[x]'] });
  });

  it('looks at each place once, whatever repeats itself', () => {
    // As many comparisons as characters would take milliseconds; their square, minutes.
    const repeating = `"${'a'.repeat(100_000)}`;
    const heads = repeating.slice(0, 24).repeat(100_000);
    expect(scrubbed(heads, repeating)).toBe('[x]');
    const almost = 'a'.repeat(15).concat('b').repeat(100_000);
    expect(scrubbed(almost, repeating)).toBe(almost);
  });
});
