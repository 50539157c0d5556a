import { describe, expect, it } from 'vitest';
import { DerivedKeyCache } from '../../src/seal/derived-key-cache.js';

describe('DerivedKeyCache', () => {
  it('drops what was used longest ago', () => {
    const cache = new DerivedKeyCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    expect(cache.get('a')).toBe(1);
    cache.set('c', 3);
    expect(cache.get('b')).toBeUndefined();
    expect(cache.get('a')).toBe(1);
    expect(cache.get('c')).toBe(3);
  });

  it('setting again renews, and does not take a second place', () => {
    const cache = new DerivedKeyCache<number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('a', 3);
    cache.set('c', 4);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([3, undefined, 4]);
  });

  it('with size 0 keeps nothing', () => {
    const cache = new DerivedKeyCache<number>(0);
    cache.set('a', 1);
    expect(cache.get('a')).toBeUndefined();
  });
});
