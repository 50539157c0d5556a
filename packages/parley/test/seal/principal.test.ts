import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Uncanonical } from '../../src/errors.js';
import { toHex } from '../../src/seal/hex.js';
import { principalDigest, type PrincipalParts } from '../../src/seal/principal.js';
import { vectors } from './vectors.js';

const digest = (principal: PrincipalParts | string | null) => toHex(principalDigest(principal));

describe('principalDigest', () => {
  it.each(vectors.principals)('has the vector of $principal', ({ principal, digest: expected }) => {
    expect(digest(principal)).toBe(expected);
  });

  it('is zero for the anonymous caller only', () => {
    expect(digest(null)).toBe('00'.repeat(32));
    for (const principal of ['', {}, { subject: '' }]) expect(digest(principal)).not.toBe('00'.repeat(32));
  });

  it('STATE-05: each part counts, absent is not empty, and nothing moves from one part to the next', () => {
    const principals: (PrincipalParts | string)[] = [
      {},
      { issuer: '' },
      { client: '' },
      { subject: '' },
      { issuer: 'a' },
      { client: 'a' },
      { subject: 'a' },
      { issuer: 'a', client: 'b', subject: 'c' },
      { issuer: 'ab', client: '', subject: 'c' },
      { issuer: 'a', client: 'bc' },
      { issuer: 'a","b', client: 'c' },
      'a',
      '',
      'null',
      '[null,null,"a"]',
    ];
    expect(new Set(principals.map(digest)).size).toBe(principals.length);
  });

  it('differs whenever the parts differ', () => {
    const part = fc.option(fc.string({ maxLength: 2, unit: fc.constantFrom('a', '"', ',') }), { nil: null });
    const parts = fc.tuple(part, part, part);
    const of = ([issuer, client, subject]: readonly (string | null)[]) =>
      digest({
        ...(issuer != null && { issuer }),
        ...(client != null && { client }),
        ...(subject != null && { subject }),
      });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        expect(of(a) === of(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
  });

  it('refuses half of a surrogate pair', () => {
    expect(() => digest('\ud800')).toThrow(Uncanonical);
    expect(() => digest({ subject: '\ud800' })).toThrow(Uncanonical);
  });
});
