import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkClaims,
  type Claims,
  CLAIMS_HEADER_BYTES,
  decodeClaims,
  encodeClaims,
} from '../../src/seal/claims.js';
import { toHex } from '../../src/seal/hex.js';
import { padmeLength } from '../../src/seal/padme.js';
import { isWellFormed } from '../../src/seal/well-formed.js';
import { rejection } from './rejection.js';
import { claimsOf, hex, vectors } from './vectors.js';

const bytes = (length: number, fill: number) => new Uint8Array(length).fill(fill);
const claims: Claims = {
  kind: 'flow',
  flow: bytes(16, 1),
  round: 3,
  issued: 1000,
  expires: 2000,
  deadline: 5000,
  principal: bytes(32, 2),
  request: bytes(32, 3),
  body: '{}\n["a",1]',
};
const anyTime = fc.maxSafeNat();
const anyClaims = fc.record({
  kind: fc.constantFrom('flow', 'plain'),
  flow: fc.uint8Array({ minLength: 16, maxLength: 16 }),
  round: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  issued: anyTime,
  expires: anyTime,
  deadline: anyTime,
  principal: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  request: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  body: fc.string({ unit: 'binary' }).filter(isWellFormed),
});

describe('encodeClaims and decodeClaims', () => {
  it.each(vectors.claims)('write and read the vector "$name" byte for byte', (vector) => {
    expect(toHex(encodeClaims(claimsOf(vector), { pad: vector.pad }))).toBe(vector.bytes);
    expect(decodeClaims(hex(vector.bytes))).toEqual(claimsOf(vector));
  });

  it('give back any claims, padded or not, also from the middle of a buffer', () => {
    fc.assert(
      fc.property(anyClaims, fc.boolean(), (any, pad) => {
        const encoded = encodeClaims(any, { pad });
        const shifted = Buffer.concat([Buffer.alloc(3, 0xff), encoded, Buffer.alloc(3, 0xff)]);
        expect(decodeClaims(encoded)).toEqual(any);
        expect(decodeClaims(new Uint8Array(shifted).subarray(3, 3 + encoded.length))).toEqual(any);
      }),
    );
  });

  it('leave the text as it is: no byte order mark is dropped, nothing is normalised', () => {
    for (const body of ['', '\ufeff{}', 'e\u0301', '\0', '\ufffd', '\r\n']) {
      expect(decodeClaims(encodeClaims({ ...claims, body })).body).toBe(body);
    }
  });

  it('pad to a Padmé length, with zeros', () => {
    for (let size = 0; size < 2000; size += 37) {
      const plain = encodeClaims({ ...claims, body: 'x'.repeat(size) });
      const padded = encodeClaims({ ...claims, body: 'x'.repeat(size) }, { pad: true });
      expect(padded).toHaveLength(padmeLength(plain.length));
      expect(toHex(padded.subarray(0, plain.length))).toBe(toHex(plain));
    }
  });

  const alter = (at: number, value: number, pad = false) => {
    const encoded = encodeClaims({ ...claims, body: 'x'.repeat(400) }, { pad });
    encoded[at < 0 ? encoded.length + at : at] = value;
    return encoded;
  };
  const withBody = (body: Uint8Array) => {
    const encoded = new Uint8Array(CLAIMS_HEADER_BYTES + body.length);
    encoded.set(encodeClaims(claims).subarray(0, CLAIMS_HEADER_BYTES));
    new DataView(encoded.buffer).setUint32(110, body.length);
    encoded.set(body, CLAIMS_HEADER_BYTES);
    return encoded;
  };

  it.each([
    ['nothing', new Uint8Array(0)],
    ['less than a header', encodeClaims(claims).subarray(0, CLAIMS_HEADER_BYTES - 1)],
    ['format 0', alter(0, 0)],
    ['a later format', alter(0, 2)],
    ['kind 0', alter(1, 0)],
    ['an unknown kind', alter(1, 3)],
    ['a time beyond 2^53', alter(22, 0xff)],
    ['a time just beyond 2^53', alter(23, 0x20)],
    ['a body longer than the bytes', alter(110, 0xff)],
    [
      'a body one byte shorter than the bytes',
      alter(113, encodeClaims({ ...claims, body: 'x'.repeat(400) }).length % 256),
    ],
    ['padding that is not zero', alter(-1, 1, true)],
    ['bad UTF-8', withBody(Uint8Array.of(0x22, 0xff, 0x22))],
    ['overlong UTF-8', withBody(Uint8Array.of(0x22, 0xc0, 0x80, 0x22))],
    ['a surrogate in UTF-8', withBody(Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22))],
  ])('reject %s', async (_, encoded) => {
    expect(await rejection(() => decodeClaims(encoded))).toBe('claims');
  });

  it('reject every truncation, and every extension but the padding of that length', async () => {
    const encoded = encodeClaims(claims);
    for (let length = 0; length < encoded.length; length += 1) {
      expect(await rejection(() => decodeClaims(encoded.subarray(0, length)))).toBe('claims');
    }
    for (let extra = 1; extra < 40; extra += 1) {
      const longer = new Uint8Array(encoded.length + extra);
      longer.set(encoded);
      const isPadding = longer.length === padmeLength(encoded.length);
      expect(await rejection(() => decodeClaims(longer))).toBe(isPadding ? 'accepted' : 'claims');
    }
  });

  it('read arbitrary bytes without any other error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.constantFrom(1, 2), async (any, kind) => {
        const encoded = Uint8Array.of(1, kind, ...any);
        expect(['claims', 'accepted']).toContain(await rejection(() => decodeClaims(encoded)));
      }),
    );
  });

  it('refuse to write what does not fit', () => {
    for (const over of [{ flow: bytes(15, 0) }, { principal: bytes(33, 0) }, { request: bytes(0, 0) }]) {
      expect(() => encodeClaims({ ...claims, ...over })).toThrow(RangeError);
    }
    for (const number of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => encodeClaims({ ...claims, round: number })).toThrow(RangeError);
      expect(() => encodeClaims({ ...claims, issued: number })).toThrow(RangeError);
      expect(() => encodeClaims({ ...claims, expires: number })).toThrow(RangeError);
      expect(() => encodeClaims({ ...claims, deadline: number })).toThrow(RangeError);
    }
    expect(() => encodeClaims({ ...claims, body: 'x\ud800' })).toThrow(RangeError);
  });
});

describe('checkClaims', () => {
  const expected = { now: 2000, kind: 'flow', principal: bytes(32, 2), request: bytes(32, 3) } as const;

  it('accepts what is in order, up to the last ms', () => {
    expect(checkClaims(claims, expected)).toBeUndefined();
    expect(checkClaims(claims, { ...expected, now: 0 })).toBeUndefined();
  });

  it('STATE-05, STATE-11: another principal, and anonymous for somebody, are rejected', () => {
    expect(checkClaims(claims, { ...expected, principal: bytes(32, 9) })).toBe('principal');
    expect(checkClaims(claims, { ...expected, principal: bytes(32, 0) })).toBe('principal');
    expect(checkClaims({ ...claims, principal: bytes(32, 0) }, expected)).toBe('principal');
    expect(checkClaims(claims, { ...expected, principal: bytes(0, 0) })).toBe('principal');
  });

  it('STATE-06: is rejected from the first ms after its time, and no skew is granted unless asked for', () => {
    expect(checkClaims(claims, { ...expected, now: 2001 })).toBe('expired');
    expect(checkClaims(claims, { ...expected, now: 2060, skew: 60 })).toBeUndefined();
    expect(checkClaims(claims, { ...expected, now: 2061, skew: 60 })).toBe('expired');
    expect(checkClaims({ ...claims, expires: 9000 }, { ...expected, now: 5001 })).toBe('deadline');
    expect(checkClaims({ ...claims, expires: 9000 }, { ...expected, now: 5000 })).toBeUndefined();
  });

  it('STATE-07: another request is rejected', () => {
    expect(checkClaims(claims, { ...expected, request: bytes(32, 9) })).toBe('request');
  });

  it('a broken clock rejects', () => {
    expect(checkClaims(claims, { ...expected, now: Number.NaN })).toBe('deadline');
  });

  it('says kind, principal, request, deadline and expired in this order', () => {
    const wrong = { kind: 'plain', principal: bytes(32, 9), request: bytes(32, 9) } as const;
    const right = { kind: 'flow', principal: bytes(32, 2), request: bytes(32, 3) } as const;
    const late = { ...expected, ...wrong, now: 9000 };
    expect(checkClaims(claims, late)).toBe('kind');
    expect(checkClaims(claims, { ...late, kind: right.kind })).toBe('principal');
    expect(checkClaims(claims, { ...late, kind: right.kind, principal: right.principal })).toBe('request');
    expect(checkClaims(claims, { ...late, ...right })).toBe('deadline');
    expect(checkClaims(claims, { ...late, ...right, now: 5000 })).toBe('expired');
  });
});
