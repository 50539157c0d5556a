import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors.js';
import { Ring, type RingPrimitives, TOKENS_PER_SALT } from '../../src/seal/ring.js';
import { sha256 } from '../../src/seal/crypto.node.js';

/** Primitives without cryptography, so that 2^20 tokens take no time. */
function cheap(over: Partial<RingPrimitives<Uint8Array>> = {}): RingPrimitives<Uint8Array> {
  let drawn = 0;
  return {
    sha256,
    hkdfSha512: (root) => Uint8Array.from({ length: 64 }, () => root[0] ?? 0),
    hmacSha512: (_key, data) => Uint8Array.from({ length: 64 }, () => data.at(-1) ?? 0),
    randomBytes: (n) => new Uint8Array(n).fill((drawn += 1)),
    importKey: (raw) => raw,
    ...over,
  };
}

const key = (byte: number, activateAt = 0) => ({ root: new Uint8Array(32).fill(byte), activateAt });

describe('Ring', () => {
  it('draws a new salt after exactly 2^20 tokens', () => {
    const ring = new Ring({ keys: [key(1)], audience: 'a', now: () => 0 }, cheap());
    const first = ring.nextSealingKey();
    for (let sealed = 1; sealed < TOKENS_PER_SALT; sealed += 1) {
      if (ring.nextSealingKey() !== first) expect.fail(`new salt after ${sealed} tokens`);
    }
    const second = ring.nextSealingKey();
    expect(second.head).not.toEqual(first.head);
    expect(second.head.subarray(0, 4)).toEqual(first.head.subarray(0, 4));
    expect(second.key).not.toEqual(first.key);
    expect(ring.nextSealingKey()).toBe(second);
  });

  it('counts for each key by itself', () => {
    let now = 0;
    const ring = new Ring({ keys: [key(2, 10), key(1)], audience: 'a', now: () => now }, cheap());
    const old = ring.nextSealingKey();
    now = 10;
    const fresh = ring.nextSealingKey();
    expect(fresh.entry).not.toBe(old.entry);
    expect(fresh.head.subarray(4)).not.toEqual(old.head.subarray(4));
    now = 0;
    expect(ring.nextSealingKey()).toBe(old);
  });

  it('refuses different keys that happen to have the same id', () => {
    const collide = cheap({ sha256: () => new Uint8Array(32) });
    expect(() => new Ring({ keys: [key(1), key(2)], audience: 'a', now: () => 0 }, collide)).toThrow(
      ConfigurationError,
    );
  });

  it('finds nothing for an id of no key', () => {
    const ring = new Ring({ keys: [key(1)], audience: 'a', now: () => 0 }, cheap());
    expect(ring.find(new Uint8Array(80))).toBeUndefined();
    expect(ring.find(new Uint8Array(0))).toBeUndefined();
    expect(ring.find(ring.nextSealingKey().head)).toBe(ring.active());
  });
});
