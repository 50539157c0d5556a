import { createHash, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigurationError } from '../../src/errors.js';
import { generateKey } from '../../src/seal/generate-key.js';
import { toHex } from '../../src/seal/hex.js';
import { KEY_PREFIX, type KeysInput, parseKeys } from '../../src/seal/keyring.js';

const root = (label: string) => createHash('sha512').update(`TEST KEY ${label}`).digest().subarray(0, 32);
const A = root('A');
const B = root('B');
const text = (bytes: Buffer) => KEY_PREFIX + bytes.toString('base64url');

function refusal(input: unknown): string {
  try {
    parseKeys(input as KeysInput);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  return 'accepted';
}

describe('parseKeys', () => {
  it.each([
    ['as printed by parley keygen', text(A)],
    ['base64url', A.toString('base64url')],
    ['base64 with padding', A.toString('base64')],
    ['base64 without padding', A.toString('base64').replace('=', '')],
    ['base64url with padding', `${A.toString('base64url')}=`],
    ['hex', A.toString('hex')],
    ['upper-case hex', A.toString('hex').toUpperCase()],
    ['bytes', new Uint8Array(A)],
    ['a Buffer', A],
    ['an object with text', { key: text(A) }],
    ['an object with bytes', { key: A }],
    ['a list', [text(A)]],
    ['surrounded by white space', ` ${text(A)}\n`],
  ] as const)('takes a key %s', (_, input) => {
    const ring = parseKeys(input);
    expect(ring.map((key) => [toHex(key.root), key.activateAt])).toEqual([[A.toString('hex'), 0]]);
  });

  it('takes longer keys', () => {
    const long = Buffer.concat([A, B]);
    for (const form of [long, long.toString('base64'), long.toString('base64url'), long.toString('hex')]) {
      expect(toHex(parseKeys(form)[0]?.root ?? new Uint8Array())).toBe(long.toString('hex'));
    }
  });

  it.each([',', ' ', '\n', ', ', ' ,\r\n\t'])(
    'takes several keys of one string, parted by %j, in order',
    (gap) => {
      const ring = parseKeys(`${text(B)}@2026-08-01T00:00:00Z${gap}${text(A)}`);
      expect(ring.map((key) => [toHex(key.root), key.activateAt])).toEqual([
        [B.toString('hex'), Date.UTC(2026, 7, 1)],
        [A.toString('hex'), 0],
      ]);
    },
  );

  it('takes activateAt in all forms', () => {
    for (const activateAt of [new Date(5000), 5000, '1970-01-01T00:00:05Z']) {
      expect(parseKeys({ key: A, activateAt })[0]?.activateAt).toBe(5000);
    }
  });

  it('copies bytes', () => {
    const given = new Uint8Array(A);
    const [key] = parseKeys(given);
    given.fill(0);
    expect(toHex(key?.root ?? given)).toBe(A.toString('hex'));
  });

  const phrase = 'correct horse battery staple';
  const bad: readonly (readonly [string, unknown, RegExp])[] = [
    ['an empty list', [], /no key/],
    ['an empty string', '', /empty/],
    ['white space', ' \n', /empty/],
    ['commas', ',,', /empty/],
    ['an empty string in a list', [text(A), ''], /Key 2 .*empty/],
    ['undefined', undefined, /neither text nor bytes/],
    ['null', null, /neither text nor bytes/],
    ['a number', 5, /neither text nor bytes/],
    ['an object without key', {}, /neither text nor bytes/],
    ['31 bytes', A.subarray(1), /fewer than 32/],
    ['31 bytes in base64', A.subarray(1).toString('base64'), /fewer than 32/],
    ['31 bytes in hex', A.subarray(1).toString('hex'), /fewer than 32/],
    ['24 bytes in hex, which as base64 would be 36', A.subarray(8).toString('hex'), /fewer than 32/],
    ['hex of odd length', `${A.toString('hex')}0`, /odd/],
    ['a generated key that lost its end', text(A).slice(0, -1), /damaged or cut off/],
    ['a generated key with something behind it', `${text(A)}A`, /damaged or cut off/],
    ['a generated key with another last character', text(A).slice(0, -1) + other(text(A).at(-1)), /damaged/],
    [
      'base64 that is not canonical',
      A.toString('base64url').slice(0, -1) + other(A.toString('base64url').at(-1)),
      /neither/,
    ],
    ['base64 with too much padding', `${A.toString('base64')}=`, /neither/],
    ['two alphabets in one', '-+'.repeat(30), /neither/],
    ['a short pass phrase', 'hunter2', /fewer than 32|neither/],
    ['a pass phrase with spaces', phrase, /random bytes|fewer/],
    ['a pass phrase with spaces in an object', { key: `${phrase} and some more of it` }, /neither/],
    ['a pass phrase with signs', 'Tr0ub4dor&3-Tr0ub4dor&3-Tr0ub4dor&3-Tr0ub4dor&3', /neither/],
    ['a pass phrase in lower case, long enough', 'correcthorsebatterystaple'.repeat(2).slice(0, 48), /words/],
    ['a pass phrase in upper case, long enough', 'CORRECTHORSEBATTERYSTAPLE'.repeat(2).slice(0, 48), /words/],
    ['a pass phrase in camel case, long enough', 'CorrectHorseBatteryStaple'.repeat(2).slice(0, 48), /words/],
    ['a pass phrase as bytes', Buffer.from(`${phrase} ${phrase}`), /readable text/],
    ['a pass phrase in UTF-8', Buffer.from('Fischers Fritz fischt frische Fische über Öl'), /readable text/],
    ['a pass phrase in base64', Buffer.from(`${phrase} ${phrase}`).toString('base64'), /readable text/],
    ['a pass phrase in hex', Buffer.from(`${phrase} ${phrase}`).toString('hex'), /readable text/],
    ['hex as bytes instead of as text', Buffer.from(A.toString('hex')), /readable text/],
    ['zeros', new Uint8Array(32), /pattern/],
    ['zeros in hex', '0'.repeat(64), /pattern/],
    ['a counter', Uint8Array.from({ length: 32 }, (_, index) => index), /pattern/],
    ['a repeated part', Buffer.from('deadbeef'.repeat(8), 'hex'), /pattern/],
    ['digits', '1234567890'.repeat(7), /pattern|readable/],
    ['a key twice', [text(A), text(A)], /Keys 1 and 2 .* same/],
    ['a key twice in two forms', [text(A), text(B), A.toString('hex')], /Keys 1 and 3/],
    ['a date that is none', `${text(A)}@tomorrow`, /Key 1 .*activateAt/],
    ['an empty date', `${text(A)}@`, /activateAt/],
    ['a bad activateAt', { key: A, activateAt: Number.NaN }, /activateAt/],
    ['a null activateAt', { key: A, activateAt: null }, /activateAt/],
    ['a date in the text of an object', { key: `${text(A)}@2026-08-01T00:00:00Z`, activateAt: 0 }, /damaged/],
  ];

  it.each(bad)('refuses %s', (_, input, message) => {
    expect(refusal(input)).toMatch(message);
  });

  it('says what to do, and never shows a part of what it was given', () => {
    for (const [name, input] of bad) {
      const message = refusal(input);
      expect(message, name).toMatch(/parley keygen|ISO date-time/);
      for (const part of secretsOf(input)) expect(message, name).not.toContain(part);
    }
  });

  it('never refuses a random key, in any form', () => {
    for (let count = 0; count < 20_000; count += 1) {
      const key = generateKey();
      const bytes = Buffer.from(key.slice(KEY_PREFIX.length), 'base64url');
      for (const form of [
        key,
        bytes,
        bytes.toString('base64'),
        bytes.toString('base64url'),
        bytes.toString('hex'),
      ]) {
        const message = refusal(form);
        if (message !== 'accepted') expect.fail(`a random key was refused: ${message}`);
      }
    }
  });

  it('takes random keys of any length from 32 bytes on, and refuses all shorter ones', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom('base64', 'base64url', 'hex'),
        (length, form) => {
          const message = refusal(randomBytes(length).toString(form));
          if (length >= 32) expect(message).toBe('accepted');
          else expect(message).not.toBe('accepted');
        },
      ),
    );
  });
});

describe('generateKey', () => {
  it('prints parley_key_ and 43 characters, another each time', () => {
    expect(generateKey()).toMatch(/^parley_key_[\w-]{43}$/);
    expect(generateKey()).not.toBe(generateKey());
  });
});

/** Another character with the same upper bits, so that only unused bits differ. */
function other(character = ''): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[alphabet.indexOf(character) ^ 1] ?? '';
}

/** Everything of five characters or more that stands in a given key. */
function secretsOf(input: unknown): string[] {
  if (Array.isArray(input)) return input.flatMap(secretsOf);
  if (typeof input === 'string')
    return input
      .replaceAll(KEY_PREFIX, '')
      .split(/[\s,@]+/)
      .filter((part) => part.length >= 5);
  if (input instanceof Uint8Array)
    return [Buffer.from(input).toString('hex'), Buffer.from(input).toString('latin1')];
  return typeof input === 'object' && input !== null && 'key' in input ? secretsOf(input.key) : [];
}
