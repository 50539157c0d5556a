import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64urlLength, decodeBase64url, encodeBase64url } from '../../src/seal/base64url.js';
import * as node from '../../src/seal/crypto.node.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('base64url', () => {
  it('has the vectors of RFC 4648 section 10, without padding', () => {
    const vectors = {
      '': '',
      f: 'Zg',
      fo: 'Zm8',
      foo: 'Zm9v',
      foob: 'Zm9vYg',
      fooba: 'Zm9vYmE',
      foobar: 'Zm9vYmFy',
    };
    for (const [text, encoded] of Object.entries(vectors)) {
      const bytes = new TextEncoder().encode(text);
      expect(encodeBase64url(bytes)).toBe(encoded);
      expect(decodeBase64url(encoded)).toEqual(bytes);
      expect(base64urlLength(bytes.length)).toBe(encoded.length);
    }
  });

  it('takes exactly the texts that it writes', () => {
    // Also the proof that the direct checks equal "decode, encode again and compare".
    const texts = fc.oneof(
      fc.string({ unit: fc.constantFrom(...Array.from(ALPHABET)) }),
      fc.string({
        unit: fc.constantFrom(...Array.from(ALPHABET), '=', '+', '/', ' ', '\n', 'é', '\u0141', '\ud83d'),
      }),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const bytes = decodeBase64url(text);
        if (bytes === undefined) expect(Buffer.from(text, 'base64url').toString('base64url')).not.toBe(text);
        else expect(encodeBase64url(bytes)).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('agrees with the one for Node on every text of up to two characters, and on every last character', () => {
    const characters = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code));
    for (const a of characters) {
      for (const text of [a, `A${a}`, `${a}A`, `AA${a}`, `AAA${a}`, `AAAA${a}A`]) {
        const [portable, native] = [decodeBase64url(text), node.decodeBase64url(text)];
        expect(portable === undefined ? undefined : [...portable], JSON.stringify(text)).toEqual(
          native === undefined ? undefined : [...native],
        );
      }
    }
  });
});
