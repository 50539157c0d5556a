import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Uncanonical } from '../../src/errors.js';
import { toHex } from '../../src/seal/hex.js';
import { requestDigest } from '../../src/seal/request-digest.js';
import { vectors } from './vectors.js';

const digest = (method: string, target: string, args: unknown, depth = 64) =>
  toHex(requestDigest({ method, target, arguments: args }, depth));

describe('requestDigest', () => {
  it.each(vectors.requests)('has the vector of $method $target', (vector) => {
    expect(digest(vector.method, vector.target, vector.arguments)).toBe(vector.digest);
    expect(createHash('sha256').update(`parley/v1 request\0${vector.canonical}`).digest('hex')).toBe(
      vector.digest,
    );
  });

  it('GAP-22: neither the order of keys nor the form of a number matters; absent arguments are empty ones', () => {
    const read = (text: string) => JSON.parse(text) as unknown;
    expect(digest('m', 't', read('{"a":1.0,"b":2}'))).toBe(digest('m', 't', read('{"b":2,"a":1}')));
    expect(digest('m', 't', undefined)).toBe(digest('m', 't', {}));
    expect(digest('m', 't', read('{"__proto__":1}'))).not.toBe(digest('m', 't', {}));
  });

  it('STATE-07: method, target and every argument count', () => {
    const base = digest('tools/call', 'deploy', { env: 'eu' });
    const others = [
      digest('prompts/get', 'deploy', { env: 'eu' }),
      digest('tools/call', 'destroy', { env: 'eu' }),
      digest('tools/call', 'deploy', { env: 'us' }),
      digest('tools/call', 'deploy', { env: 'eu', force: true }),
      digest('tools/call', 'deploy', { env: ['eu'] }),
      digest('tools/call', 'deploy', {}),
    ];
    expect(new Set([base, ...others]).size).toBe(7);
  });

  it('parts cannot be moved into one another', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), fc.string(), (a, b, c, d) => {
        expect(digest(a, b, {}) === digest(c, d, {})).toBe(a === c && b === d);
      }),
    );
    expect(digest('a","b', 'c', {})).not.toBe(digest('a', 'b","c', {}));
  });

  it('the depth is that of the arguments', () => {
    expect(() => digest('m', 't', { a: { b: 1 } }, 2)).not.toThrow();
    expect(() => digest('m', 't', { a: { b: {} } }, 2)).toThrow(Uncanonical);
    expect(() => digest('m', '\ud800', {})).toThrow(Uncanonical);
  });
});
