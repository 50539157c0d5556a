import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ConfigurationError, StateTooLarge } from '../../src/errors.js';
import { DerivedKeyCache } from '../../src/seal/derived-key-cache.js';
import { toHex } from '../../src/seal/hex.js';
import { parseKeys, type RingKey } from '../../src/seal/keyring.js';
import { TOKENS_PER_SALT } from '../../src/seal/ring.js';
import type { Sealer, SealerOptions } from '../../src/seal/sealer.js';
import { maxPlaintextBytes, tokenLength } from '../../src/seal/token.js';
import { rejection } from './rejection.js';
import { hex, type TokenVector, vectors } from './vectors.js';

export interface Implementation {
  readonly createSealer: (options: SealerOptions) => Sealer;
  readonly sha256: (data: Uint8Array | string) => Uint8Array;
  readonly randomBytes: (n: number) => Uint8Array;
  readonly encodeBase64url: (bytes: Uint8Array) => string;
  readonly decodeBase64url: (text: string) => Uint8Array | undefined;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const utf8 = new TextEncoder();
const testKey = (label: string, activateAt = 0): RingKey => ({
  root: createHash('sha512').update(`TEST KEY ${label}`).digest().subarray(0, 32),
  activateAt,
});
const options = (over: Partial<SealerOptions> = {}): SealerOptions => ({
  keys: [testKey('A')],
  audience: 'releases',
  now: () => 0,
  ...over,
});

/** The bytes of a token, and a token of bytes, by Node's own codec. */
const frameOf = (token: string) => Buffer.from(token.slice(8), 'base64url');
const tokenOf = (frame: Uint8Array) => `parley1.${Buffer.from(frame).toString('base64url')}`;

/** What the format says about a text that was altered behind the key id, found without the code under test. */
function expectedReason(token: string): string {
  const text = token.slice(8);
  const frame = Buffer.from(text, 'base64url');
  const isStrict = token.startsWith('parley1.') && frame.toString('base64url') === text;
  return isStrict && frame.length >= 80 ? 'authentication' : 'malformed';
}

function sealerOf(implementation: Implementation, vector: TokenVector): Sealer {
  const draws = [hex(vector.salt), hex(vector.nonce)];
  return implementation.createSealer({
    keys: parseKeys(vector.root),
    audience: vector.audience,
    now: () => 0,
    randomBytes: () => draws.shift() ?? expect.fail('drew more than salt and nonce'),
  });
}

/** The suite that every implementation of the token passes; `peer` opens what it seals, and the reverse. */
export function sealerSuite(name: string, implementation: Implementation, peer: Implementation): void {
  const { createSealer } = implementation;
  const plaintext = utf8.encode('{"secret":"hunter2"}');

  afterEach(() => {
    vi.restoreAllMocks();
  });

  describe(`${name}: primitives`, () => {
    it('has the SHA-256 of FIPS 180-4, of bytes and of strings', () => {
      expect(toHex(implementation.sha256('abc'))).toBe(
        'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      );
      fc.assert(
        fc.property(fc.string({ unit: 'grapheme' }), (text) => {
          const expected = createHash('sha256').update(text).digest('hex');
          expect(toHex(implementation.sha256(text))).toBe(expected);
          expect(toHex(implementation.sha256(utf8.encode(text)))).toBe(expected);
        }),
      );
    });

    it('draws as many bytes as asked, and others each time', () => {
      expect(implementation.randomBytes(32)).toHaveLength(32);
      expect(implementation.randomBytes(32)).not.toEqual(implementation.randomBytes(32));
    });

    it('has strict base64url', () => {
      fc.assert(
        fc.property(fc.uint8Array(), (bytes) => {
          const text = implementation.encodeBase64url(bytes);
          expect(text).toBe(Buffer.from(bytes).toString('base64url'));
          expect(toHex(implementation.decodeBase64url(text) as Uint8Array)).toBe(toHex(bytes));
        }),
      );
      for (const text of [
        'A',
        'AB',
        'ABB',
        'AA==',
        'AAA=',
        'AA\n',
        ' AA',
        'A+',
        'A/',
        'ÄÄ',
        'AAAAA',
        'AA.A',
        'A\u0100AA',
      ]) {
        expect(implementation.decodeBase64url(text), text).toBeUndefined();
      }
    });

    it('gives plain Uint8Arrays, whose slice copies', async () => {
      const sealer = createSealer(options());
      const opened = await sealer.open(await sealer.seal(plaintext));
      for (const bytes of [implementation.sha256('a'), implementation.randomBytes(4), opened.plaintext]) {
        expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
      }
    });
  });

  describe(`${name}: golden vectors`, () => {
    it.each(vectors.tokens)('writes "$name" byte for byte', async (vector) => {
      expect(await sealerOf(implementation, vector).seal(hex(vector.plaintext))).toBe(vector.token);
    });

    it.each(vectors.tokens)('reads "$name"', async (vector) => {
      const opened = await sealerOf(implementation, vector).open(vector.token);
      expect(toHex(opened.plaintext)).toBe(vector.plaintext);
      expect(opened.kid).toBe(vector.kid);
      expect(opened.current).toBe(true);
    });

    it('tells the ids of its keys, in the order of the ring', () => {
      const ofReleases = vectors.tokens.filter(({ audience }) => audience === 'releases');
      const kids = new Map(ofReleases.map(({ root, kid }) => [root, kid]));
      const keys = parseKeys([...kids.keys()]);
      expect(createSealer(options({ keys })).keyIds).toEqual([...kids.values()]);
    });
  });

  describe(`${name}: sealing and opening`, () => {
    it('gives back any bytes, also through the other implementation', async () => {
      const own = createSealer(options());
      const other = peer.createSealer(options());
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
          const token = await own.seal(bytes);
          expect(token).toHaveLength(tokenLength(bytes.length));
          expect(toHex((await own.open(token)).plaintext)).toBe(toHex(bytes));
          expect(toHex((await other.open(token)).plaintext)).toBe(toHex(bytes));
          expect(toHex((await own.open(await other.seal(bytes))).plaintext)).toBe(toHex(bytes));
        }),
      );
    });

    it('reads a view into a larger buffer as that view', async () => {
      const sealer = createSealer(options());
      const view = Uint8Array.of(1, 2, 3, 4, 5).subarray(1, 4);
      expect([...(await sealer.open(await sealer.seal(view))).plaintext]).toEqual([2, 3, 4]);
    });

    it('STATE-12: shows nothing readable', async () => {
      const token = await createSealer(options()).seal(plaintext);
      expect(frameOf(token).toString('latin1')).not.toContain('hunter2');
      expect(token).toMatch(/^parley1\.[\w-]+$/);
    });

    it('never repeats a token or a nonce', async () => {
      const sealer = createSealer(options());
      const tokens = await Promise.all(Array.from({ length: 2000 }, () => sealer.seal(plaintext)));
      const nonces = tokens.map((token) => frameOf(token).toString('hex', 20, 32));
      expect(new Set(nonces).size).toBe(tokens.length);
      expect(new Set(tokens.map((token) => frameOf(token).toString('hex', 4, 20))).size).toBe(1);
    });

    it('STATE-10: another key, as after a restart without one, opens nothing', async () => {
      const token = await createSealer(options()).seal(plaintext);
      const restarted = createSealer(options({ keys: [testKey('B')] }));
      expect(await rejection(() => restarted.open(token))).toBe('unknown_key');
    });

    it('another audience has other keys', async () => {
      const token = await createSealer(options()).seal(plaintext);
      const other = createSealer(options({ audience: 'billing' }));
      expect(await rejection(() => other.open(token))).toBe('unknown_key');
    });

    it('refuses to seal what it would refuse to open', async () => {
      const sealer = createSealer(options({ maxLength: 200 }));
      const most = maxPlaintextBytes(200);
      expect(await sealer.open(await sealer.seal(new Uint8Array(most)))).toBeDefined();
      await expect(async () => sealer.seal(new Uint8Array(most + 1))).rejects.toThrow(StateTooLarge);
    });
  });

  describe(`${name}: hostile tokens`, () => {
    it('STATE-02: every bit of every byte counts, and the reason says which part', async () => {
      const sealer = createSealer(options());
      const token = await sealer.seal(plaintext);
      const frame = frameOf(token);
      for (const [index, byte] of frame.entries()) {
        for (let bit = 0; bit < 8; bit += 1) {
          const altered = Buffer.from(frame);
          altered[index] = byte ^ (1 << bit);
          const reason = await rejection(() => sealer.open(tokenOf(altered)));
          expect(reason, `byte ${index}, bit ${bit}`).toBe(
            index < 4
              ? 'unknown_key'
              : index < 20
                ? 'commitment'
                : index < 32
                  ? 'authentication'
                  : index < 64
                    ? 'commitment'
                    : 'authentication',
          );
        }
      }
      expect(toHex((await sealer.open(token)).plaintext)).toBe(toHex(plaintext));
    });

    it('STATE-02: every truncation is rejected', async () => {
      const sealer = createSealer(options());
      const token = await sealer.seal(plaintext);
      for (let length = 0; length < token.length; length += 1) {
        const cut = token.slice(0, length);
        expect(await rejection(() => sealer.open(cut)), `${length}`).toBe(expectedReason(cut));
      }
      for (let start = 1; start < token.length; start += 1) {
        expect(await rejection(() => sealer.open(token.slice(start))), `${start}`).toBe('malformed');
      }
    });

    it('STATE-03: every extension is rejected', async () => {
      // Plaintexts of three neighbouring lengths, so that the text ends in each of the three ways.
      for (const length of [20, 21, 22]) {
        const sealer = createSealer(options());
        const token = await sealer.seal(new Uint8Array(length));
        for (const suffix of [
          '-TAMPERED',
          'A',
          'AA',
          'AAA',
          'AAAA',
          '_',
          '.',
          '.A',
          '=',
          '==',
          '%',
          '\0',
          'é',
        ]) {
          const longer = token + suffix;
          expect(await rejection(() => sealer.open(longer)), suffix).toBe(expectedReason(longer));
        }
      }
    });

    it('STATE-03: only one text opens: no other last character, no white space, no padding, no other alphabet', async () => {
      for (const length of [20, 21, 22]) {
        const sealer = createSealer(options());
        const token = await sealer.seal(implementation.randomBytes(length));
        const stem = token.slice(0, -1);
        for (const last of ALPHABET) {
          if (stem + last === token) continue;
          expect(await rejection(() => sealer.open(stem + last)), last).toBe(expectedReason(stem + last));
        }
        for (const junk of [' ', '\n', '\t', '\r', '=', '\u00a0', '\ufeff', '%3D']) {
          for (const at of [0, 7, 8, 9, 40, token.length - 1, token.length]) {
            const altered = token.slice(0, at) + junk + token.slice(at);
            expect(await rejection(() => sealer.open(altered)), `${junk} at ${at}`).toBe('malformed');
          }
        }
        const standard = token.replaceAll('-', '+').replaceAll('_', '/');
        if (standard !== token) expect(await rejection(() => sealer.open(standard))).toBe('malformed');
      }
    });

    it('looks for the prefix as it is', async () => {
      const sealer = createSealer(options());
      const token = await sealer.seal(plaintext);
      for (const prefix of ['', 'parley1', 'parley2.', 'PARLEY1.', 'Parley1.', 'parley1..', ' parley1.']) {
        expect(await rejection(() => sealer.open(prefix + token.slice(8))), prefix).toBe('malformed');
      }
    });

    it('STATE-01: random strings are rejected cleanly', async () => {
      const sealer = createSealer(options());
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            fc.string({ unit: 'binary' }),
            fc
              .string({ unit: fc.constantFrom(...Array.from(ALPHABET)), maxLength: 300 })
              .map((text) => `parley1.${text}`),
            fc.uint8Array({ minLength: 76, maxLength: 300 }).map((bytes) => {
              return tokenOf(Buffer.concat([hex(kidOfA), bytes]));
            }),
          ),
          async (token) => {
            expect(['malformed', 'unknown_key', 'commitment']).toContain(
              await rejection(() => sealer.open(token)),
            );
          },
        ),
        { numRuns: 2000 },
      );
    });

    it('STATE-17: what is not a string is rejected', async () => {
      const sealer = createSealer(options());
      for (const value of [undefined, null, 5, {}, [], true, ['parley1.'], { length: 200 }]) {
        expect(await rejection(() => sealer.open(value as unknown as string))).toBe('not_a_string');
      }
      expect(await rejection(() => sealer.open(''))).toBe('malformed');
    });

    it('STATE-01: looks at the length before anything else', async () => {
      const sealer = createSealer(options());
      expect(await rejection(() => sealer.open('x'.repeat(65_536)))).toBe('malformed');
      expect(await rejection(() => sealer.open('x'.repeat(65_537)))).toBe('too_long');
      const token = await sealer.seal(plaintext);
      const exact = createSealer(options({ maxLength: token.length }));
      const tight = createSealer(options({ maxLength: token.length - 1 }));
      expect((await exact.open(token)).kid).toBe(kidOfA);
      expect(await rejection(() => tight.open(token))).toBe('too_long');
    });

    it('refuses a token under a key that it does not commit to, although the tag is right', async () => {
      const sealer = createSealer(options());
      const frame = frameOf(await sealer.seal(plaintext));
      const foreign = frameOf(await createSealer(options()).seal(plaintext));
      // AEAD does not cover the commitment: only the comparison stops this one.
      frame.set(foreign.subarray(32, 64), 32);
      expect(await rejection(() => sealer.open(tokenOf(frame)))).toBe('commitment');
    });

    it('refuses parts of two authentic tokens put together', async () => {
      const sealer = createSealer(options());
      const one = frameOf(await sealer.seal(plaintext));
      const other = frameOf(await createSealer(options()).seal(plaintext));
      const parts: readonly [number, number, string][] = [
        [4, 20, 'commitment'],
        [20, 32, 'authentication'],
        [4, 64, 'authentication'],
        [64, one.length, 'authentication'],
      ];
      for (const [from, to, reason] of parts) {
        const mixed = Buffer.from(one);
        mixed.set(other.subarray(from, to), from);
        expect(await rejection(() => sealer.open(tokenOf(mixed))), `${from} to ${to}`).toBe(reason);
      }
    });

    it('a key id of another key in the ring does not help', async () => {
      const ring = createSealer(options({ keys: [testKey('A'), testKey('B')] }));
      const frame = frameOf(await ring.seal(plaintext));
      frame.set(
        frameOf(await createSealer(options({ keys: [testKey('B')] })).seal(plaintext)).subarray(0, 4),
      );
      expect(await rejection(() => ring.open(tokenOf(frame)))).toBe('commitment');
    });

    it('takes no short tag', async () => {
      const sealer = createSealer(options());
      const frame = frameOf(await sealer.seal(plaintext));
      for (let kept = 0; kept < 16; kept += 1) {
        const short = frame.subarray(0, frame.length - 16 + kept);
        expect(await rejection(() => sealer.open(tokenOf(short))), `${kept} bytes`).toBe('authentication');
      }
      // An empty plaintext with a tag of four bytes is shorter than any token.
      const empty = frameOf(await sealer.seal(new Uint8Array(0)));
      expect(await rejection(() => sealer.open(tokenOf(empty.subarray(0, 68))))).toBe('malformed');
    });

    it('STATE-16: an error shows the reason and nothing of the token', async () => {
      const sealer = createSealer(options());
      const token = await sealer.seal(plaintext);
      const caught: unknown = await Promise.resolve()
        .then(async () => sealer.open(`${token}A`))
        .catch((error: unknown) => error);
      expect(caught).toBeInstanceOf(Error);
      const { message, cause } = caught as Error;
      expect(message).toMatch(/^requestState rejected: (malformed|authentication)$/);
      expect(cause).toBeUndefined();
    });
  });

  describe(`${name}: rotation`, () => {
    it('the first key seals, all open', async () => {
      const before = createSealer(options({ keys: [testKey('A')] }));
      const after = createSealer(options({ keys: [testKey('B'), testKey('A')] }));
      const old = await after.open(await before.seal(plaintext));
      expect(old).toMatchObject({ kid: kidOfA, current: false });
      const fresh = await after.open(await after.seal(plaintext));
      expect(fresh.current).toBe(true);
      expect(fresh.kid).not.toBe(kidOfA);
    });

    it('a key that is handed out ahead opens at once and seals from activateAt on', async () => {
      let now = 999;
      const keys = [testKey('B', 1000), testKey('A')];
      const sealer = createSealer(options({ keys, now: () => now }));
      const early = await sealer.seal(plaintext);
      expect(await sealer.open(early)).toMatchObject({ kid: kidOfA, current: true });
      // An instance whose clock is ahead seals with it already.
      const ahead = await createSealer(options({ keys, now: () => 1000 })).seal(plaintext);
      expect((await sealer.open(ahead)).current).toBe(false);
      now = 1000;
      expect((await sealer.open(ahead)).current).toBe(true);
      expect((await sealer.open(early)).current).toBe(false);
      expect((await sealer.open(await sealer.seal(plaintext))).kid).not.toBe(kidOfA);
    });

    it('without an active key it opens, and does not seal', async () => {
      const keys = [testKey('A', 1000)];
      const sealer = createSealer(options({ keys }));
      await expect(async () => sealer.seal(plaintext)).rejects.toThrow(ConfigurationError);
      const token = await createSealer(options({ keys, now: () => 1000 })).seal(plaintext);
      expect(await sealer.open(token)).toMatchObject({ kid: kidOfA, current: false });
    });

    it('refuses a ring that is empty or holds a key twice', () => {
      expect(() => createSealer(options({ keys: [] }))).toThrow(ConfigurationError);
      expect(() => createSealer(options({ keys: [testKey('A'), testKey('A', 5)] }))).toThrow(/same id/);
    });

    it('refuses audiences and limits that cannot be', () => {
      for (const audience of ['', 'x'.repeat(513), 'é'.repeat(257), '\ud800']) {
        expect(() => createSealer(options({ audience }))).toThrow(ConfigurationError);
      }
      expect(() => createSealer(options({ audience: 'é'.repeat(256) }))).not.toThrow();
      for (const limits of [
        { maxLength: 10 },
        { maxLength: Number.NaN },
        { cacheSize: -1 },
        { cacheSize: 0.5 },
      ]) {
        expect(() => createSealer(options(limits))).toThrow(ConfigurationError);
      }
    });
  });

  describe(`${name}: salts and the cache`, () => {
    it('draws one salt per 2^20 tokens and one nonce per token', async () => {
      const drawn: number[] = [];
      const sealer = createSealer(
        options({
          randomBytes: (n) => {
            drawn.push(n);
            return implementation.randomBytes(n);
          },
        }),
      );
      for (let count = 0; count < 5; count += 1) await sealer.seal(plaintext);
      expect(drawn).toEqual([16, 12, 12, 12, 12, 12]);
      expect(TOKENS_PER_SALT).toBe(2 ** 20);
    });

    it('refuses a generator that gives another number of bytes', async () => {
      const sealer = createSealer(options({ randomBytes: (n) => new Uint8Array(n - 1) }));
      await expect(async () => sealer.seal(plaintext)).rejects.toThrow(ConfigurationError);
    });

    it('keeps a derived key only after it authenticated something', async () => {
      const set = vi.spyOn(DerivedKeyCache.prototype, 'set');
      const sealer = createSealer(options());
      const token = await sealer.seal(plaintext);
      for (const at of [0, 4, 20, 32, 64, 90]) {
        const frame = frameOf(token);
        frame[at] = (frame[at] as number) ^ 1;
        expect(await rejection(() => sealer.open(tokenOf(frame)))).not.toBe('accepted');
      }
      expect(set).not.toHaveBeenCalled();
      await sealer.open(token);
      await sealer.open(token);
      expect(set).toHaveBeenCalledTimes(1);
    });

    it('opens tokens of more salts than it keeps', async () => {
      const keeper = createSealer(options({ cacheSize: 2 }));
      const none = createSealer(options({ cacheSize: 0 }));
      const tokens = await Promise.all([1, 2, 3, 4].map(async () => createSealer(options()).seal(plaintext)));
      for (const token of [...tokens, ...tokens]) {
        expect(toHex((await keeper.open(token)).plaintext)).toBe(toHex(plaintext));
        expect(toHex((await none.open(token)).plaintext)).toBe(toHex(plaintext));
      }
    });

    it('a cached key is no short cut: altered tokens of a known salt are rejected just the same', async () => {
      const sealer = createSealer(options());
      const token = await sealer.seal(plaintext);
      await sealer.open(token);
      for (const [at, reason] of [
        [32, 'commitment'],
        [63, 'commitment'],
        [64, 'authentication'],
      ] as const) {
        const frame = frameOf(token);
        frame[at] = (frame[at] as number) ^ 0x80;
        expect(await rejection(() => sealer.open(tokenOf(frame)))).toBe(reason);
      }
    });
  });
}

/** Key id of TEST KEY A for the audience `releases`. */
const kidOfA = 'a69ef1e6';
