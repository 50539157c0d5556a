/**
 * Reads the keys that an operator configures.
 *
 * Whatever is wrong here stops the process at its start, with a message that says what to do. No message holds any
 * part of a key: it will be printed in a log.
 */
import { ConfigurationError } from '../errors.js';
import { parseActivateAt } from './activate-at.js';
import { decodeBase64url } from './base64url.js';
import { equalBytes } from './equal-bytes.js';
import { fromHex } from './hex.js';
import { MIN_KEY_BYTES, weaknessOfBase64, weaknessOfBytes } from './key-strength.js';

/** What a generated key begins with: secret scanners find it, and nobody takes it for something else. */
export const KEY_PREFIX = 'parley_key_';

/**
 * One key, or a string with several.
 *
 * As text: what `generateKey()` prints, or base64url, base64 or hex of at least 32 random bytes. A string may hold
 * several keys, parted by commas or white space, each followed by `@` and an ISO date-time if it is to seal only
 * from then on. As bytes: at least 32 random ones. `activateAt` as a number is ms since the Unix epoch.
 */
export type KeyInput =
  string | Uint8Array | { readonly key: string | Uint8Array; readonly activateAt?: Date | string | number };

/** The keys of a ring, in order: the first that is active seals, all open. */
export type KeysInput = KeyInput | readonly KeyInput[];

/** One key of a ring, read and checked. */
export interface RingKey {
  /** At least 32 random bytes. */
  readonly root: Uint8Array;
  /** From when on it may seal, in ms since the Unix epoch; 0 if always. It opens at any time. */
  readonly activateAt: number;
}

const HOW_TO_MAKE_ONE = 'Make a key with `parley keygen`, and give all instances the same.';

/**
 * Reads keys in any of their forms, in order.
 *
 * @throws ConfigurationError if there is none, if one is not a key, is under 32 bytes, looks like a pass phrase,
 * stands twice, or has an unreadable `activateAt`. The message never holds key material.
 */
export function parseKeys(input: KeysInput): RingKey[] {
  const ring: RingKey[] = [];
  for (const one of isList(input) ? input : [input]) ring.push(...parseInput(one, ring.length + 1));
  if (ring.length === 0) throw new ConfigurationError(`There is no key in the ring. ${HOW_TO_MAKE_ONE}`);
  refuseDuplicates(ring);
  return ring;
}

function isList(input: KeysInput): input is readonly KeyInput[] {
  return Array.isArray(input);
}

function parseInput(input: KeyInput, first: number): RingKey[] {
  if (typeof input === 'string') return parseList(input, first);
  if (input instanceof Uint8Array) return [{ root: checkedBytes(input, first), activateAt: 0 }];
  // Callers from JavaScript pass anything, for example an unset variable.
  const given: unknown = (input as { readonly key?: unknown } | null | undefined)?.key;
  if (typeof given !== 'string' && !(given instanceof Uint8Array)) {
    throw refusal(first, 'is neither text nor bytes nor { key, activateAt }');
  }
  const root = typeof given === 'string' ? decodeText(given, first) : checkedBytes(given, first);
  const { activateAt } = input;
  return [{ root, activateAt: activateAt === undefined ? 0 : parseActivateAt(activateAt, `Key ${first}`) }];
}

function parseList(text: string, first: number): RingKey[] {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  if (parts.length === 0) throw refusal(first, 'is empty. Is the environment variable set?');
  return parts.map((part, index) => {
    const position = first + index;
    const at = part.indexOf('@');
    if (at < 0) return { root: decodeText(part, position), activateAt: 0 };
    const root = decodeText(part.slice(0, at), position);
    return { root, activateAt: parseActivateAt(part.slice(at + 1), `Key ${position}`) };
  });
}

function decodeText(text: string, position: number): Uint8Array {
  if (text.startsWith(KEY_PREFIX)) {
    const root = decodeBase64url(text.slice(KEY_PREFIX.length));
    if (root?.length !== MIN_KEY_BYTES) {
      throw refusal(position, `begins with ${KEY_PREFIX} and is damaged or cut off. Copy it again`);
    }
    return checkedBytes(root, position);
  }
  // Before base64, because hex digits are base64 characters too and would seem to hold half as much again.
  if (/^[0-9a-f]+$/i.test(text)) {
    const root = fromHex(text);
    if (root === undefined) throw refusal(position, 'is hex with an odd number of digits');
    return checkedBytes(root, position);
  }
  const root = decodeBase64(text);
  if (root === undefined) {
    throw refusal(
      position,
      `is neither what \`parley keygen\` prints nor base64 or hex of ${MIN_KEY_BYTES} random bytes. ` +
        'Keys are parted by commas or white space, so a pass phrase reads as several and is none',
    );
  }
  const bytes = checkedBytes(root, position);
  const weakness = weaknessOfBase64(text.replace(/=+$/, ''));
  if (weakness !== undefined) throw refusal(position, weakness);
  return bytes;
}

/** Canonical base64 or base64url, not a mixture; padding is optional, but right where there is some. */
function decodeBase64(text: string): Uint8Array | undefined {
  const isStandard = /[+/]/.test(text);
  if (isStandard && /[-_]/.test(text)) return undefined;
  const unpadded = text.length % 4 === 0 ? text.replace(/={1,2}$/, '') : text;
  return decodeBase64url(unpadded.replaceAll('+', '-').replaceAll('/', '_'));
}

/** A copy, so that a caller who wipes or reuses the buffer does not change the key. */
function checkedBytes(bytes: Uint8Array, position: number): Uint8Array {
  const weakness = weaknessOfBytes(bytes);
  if (weakness !== undefined) throw refusal(position, weakness);
  return Uint8Array.from(bytes);
}

function refuseDuplicates(ring: readonly RingKey[]): void {
  for (const [index, key] of ring.entries()) {
    const twin = ring.findIndex((other) => equalBytes(other.root, key.root));
    if (twin < index) {
      throw new ConfigurationError(
        `Keys ${twin + 1} and ${index + 1} of the ring are the same. Remove one, or make a new key with \`parley keygen\`.`,
      );
    }
  }
}

function refusal(position: number, reason: string): ConfigurationError {
  return new ConfigurationError(`Key ${position} of the ring ${reason}. ${HOW_TO_MAKE_ONE}`);
}
