/**
 * The primitives on every other runtime: WebCrypto for AES-GCM and randomness, `@noble/hashes` for the hashes, since
 * digests and the ring are needed without a promise. Same names and same bytes as `crypto.node.ts`.
 */
import { hkdf } from '@noble/hashes/hkdf.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 as nobleSha256, sha512 } from '@noble/hashes/sha2.js';
import { StateRejected } from '../errors.js';
import { decodeBase64url, encodeBase64url } from './base64url.js';
import { DerivedKeyCache } from './derived-key-cache.js';
import { equalBytes } from './equal-bytes.js';
import { Ring, type RingEntry, type RingPrimitives } from './ring.js';
import { assertSealable, sealerLimits } from './sealer-limits.js';
import type { AsyncSealer, Opened, SealerOptions } from './sealer.js';
import {
  assertFrame,
  CIPHERTEXT_AT,
  COMMIT_AT,
  NONCE_AT,
  NONCE_BYTES,
  OVERHEAD_BYTES,
  SALT_AT,
  TAG_BYTES,
  TOKEN_PREFIX,
  tokenText,
  writeHead,
} from './token.js';

export { decodeBase64url, encodeBase64url };

const { subtle } = globalThis.crypto;
type AesKey = Awaited<ReturnType<typeof subtle.importKey>>;

/** What opens tokens of one salt. */
interface OpeningKey {
  readonly key: AesKey;
  readonly commit: Uint8Array;
}

const utf8 = new TextEncoder();

/** SHA-256 (FIPS 180-4) of bytes, or of a string's UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return nobleSha256(typeof data === 'string' ? utf8.encode(data) : data);
}

/** `n` bytes from the system's generator, at most 65,536 (WebCrypto's limit). */
export function randomBytes(n: number): Uint8Array {
  return globalThis.crypto.getRandomValues(new Uint8Array(n));
}

/**
 * Makes a sealer from a checked ring.
 *
 * @throws ConfigurationError for an empty ring, an unusable audience, two keys of one id, or impossible limits.
 */
export function createSealer(options: SealerOptions): AsyncSealer {
  const limits = sealerLimits(options);
  const ring = new Ring<Promise<AesKey>>(options, {
    ...primitives,
    randomBytes: options.randomBytes ?? randomBytes,
  });
  const cache = new DerivedKeyCache<OpeningKey>(limits.cacheSize);

  async function seal(plaintext: Uint8Array): Promise<string> {
    assertSealable(plaintext, limits);
    // Key and nonce are taken before the first await, so that calls at the same time are counted one by one.
    const sealing = ring.nextSealingKey();
    const nonce = ring.draw(NONCE_BYTES);
    const parameters = gcm(nonce, sealing.entry);
    const sealed = await subtle.encrypt(parameters, await sealing.key, plaintext);
    const frame = new Uint8Array(OVERHEAD_BYTES + plaintext.length);
    writeHead(frame, sealing.head, nonce, sealing.commit);
    // WebCrypto gives ciphertext and tag in one piece, in the order of our layout.
    frame.set(new Uint8Array(sealed), CIPHERTEXT_AT);
    return TOKEN_PREFIX + encodeBase64url(frame);
  }

  async function open(token: string): Promise<Opened> {
    const frame = assertFrame(decodeBase64url(tokenText(token, limits.maxLength)));
    const entry = ring.find(frame);
    if (entry === undefined) throw new StateRejected('unknown_key');

    const id = String.fromCharCode(...frame.subarray(0, NONCE_AT));
    const known = cache.get(id);
    const derived = known ?? ring.derive(entry, frame.subarray(SALT_AT, NONCE_AT));
    if (!equalBytes(derived.commit, frame.subarray(COMMIT_AT, CIPHERTEXT_AT))) {
      throw new StateRejected('commitment');
    }
    const key = derived.key instanceof Uint8Array ? await importKey(derived.key) : derived.key;
    const plaintext = await decrypt(key, entry, frame);
    if (known === undefined) cache.set(id, { key, commit: derived.commit });
    return { plaintext, kid: entry.kidHex, position: entry.position, current: entry === ring.active() };
  }

  return { keyIds: ring.keyIds(), seal, open };
}

async function decrypt(key: AesKey, entry: RingEntry, frame: Uint8Array): Promise<Uint8Array> {
  const parameters = gcm(frame.subarray(NONCE_AT, COMMIT_AT), entry);
  try {
    return new Uint8Array(await subtle.decrypt(parameters, key, frame.subarray(CIPHERTEXT_AT)));
  } catch {
    throw new StateRejected('authentication');
  }
}

function gcm(nonce: Uint8Array, entry: RingEntry) {
  return { name: 'AES-GCM', iv: nonce, additionalData: entry.aad, tagLength: TAG_BYTES * 8 };
}

async function importKey(raw: Uint8Array): Promise<AesKey> {
  return subtle.importKey('raw', raw, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

const primitives: Omit<RingPrimitives<Promise<AesKey>>, 'randomBytes'> = {
  sha256,
  hkdfSha512: (root, info) => hkdf(sha512, root, undefined, info, 64),
  hmacSha512: (key, data) => hmac(sha512, key, data),
  importKey,
};
