/**
 * The primitives on Node: `node:crypto`, synchronous throughout. Chosen by `#crypto` in `package.json`; elsewhere
 * `crypto.web.ts` stands in, with the same names and the same bytes.
 */
import { Buffer } from 'node:buffer';
import * as nodeCrypto from 'node:crypto';
import { StateRejected } from '../errors.js';
import { DerivedKeyCache } from './derived-key-cache.js';
import { Ring, type RingPrimitives } from './ring.js';
import { assertSealable, sealerLimits } from './sealer-limits.js';
import type { Opened, SealerOptions, SyncSealer } from './sealer.js';
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

const CIPHER = 'aes-256-gcm';
/** Without this, Node takes tags of 4 bytes when it opens: one forgery in 2^32 tries. */
const CIPHER_OPTIONS = { authTagLength: TAG_BYTES };

/** What opens tokens of one salt. */
interface OpeningKey {
  readonly key: Uint8Array;
  readonly commit: Uint8Array;
}

/**
 * The one-shot form skips a stream object; runtimes that only imitate Node may lack it. It gives a text (of one
 * character a byte), because a buffer that is made in C++ costs more than the hash, then and when it is collected.
 */
const oneShotSha256: (data: Uint8Array | string) => Buffer =
  typeof (nodeCrypto as Partial<typeof nodeCrypto>).hash === 'function'
    ? (data) => Buffer.from(nodeCrypto.hash('sha256', data, 'binary'), 'latin1')
    : (data) => nodeCrypto.createHash('sha256').update(data).digest();

/** SHA-256 (FIPS 180-4) of bytes, or of a string's UTF-8. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return plain(oneShotSha256(data));
}

/** `n` bytes from the system's generator. */
export function randomBytes(n: number): Uint8Array {
  return nodeCrypto.randomFillSync(new Uint8Array(n));
}

/** Writes unpadded base64url (RFC 4648 section 5). */
export function encodeBase64url(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('base64url');
}

/** Reads canonical unpadded base64url; `undefined` for anything else. */
export function decodeBase64url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, 'base64url');
  // Node's decoder skips junk, stops at '=' and ignores unused bits; what it made of the text must be the text.
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/**
 * Makes a sealer from a checked ring.
 *
 * @throws ConfigurationError for an empty ring, an unusable audience, two keys of one id, or impossible limits.
 */
export function createSealer(options: SealerOptions): SyncSealer {
  const limits = sealerLimits(options);
  const ring = new Ring<Uint8Array>(options, {
    ...primitives,
    randomBytes: options.randomBytes ?? randomBytes,
  });
  const cache = new DerivedKeyCache<OpeningKey>(limits.cacheSize);

  function seal(plaintext: Uint8Array): string {
    assertSealable(plaintext, limits);
    const { entry, key, commit, head } = ring.nextSealingKey();
    const nonce = ring.draw(NONCE_BYTES);
    const cipher = nodeCrypto.createCipheriv(CIPHER, key, nonce, CIPHER_OPTIONS).setAAD(entry.aad);
    const frame = Buffer.allocUnsafe(OVERHEAD_BYTES + plaintext.length);
    writeHead(frame, head, nonce, commit);
    frame.set(cipher.update(plaintext), CIPHERTEXT_AT);
    cipher.final();
    frame.set(cipher.getAuthTag(), frame.length - TAG_BYTES);
    return TOKEN_PREFIX + frame.toString('base64url');
  }

  function open(token: string): Opened {
    const frame = assertFrame(decodeBase64url(tokenText(token, limits.maxLength)));
    const entry = ring.find(frame);
    if (entry === undefined) throw new StateRejected('unknown_key');

    const id = asBuffer(frame).toString('latin1', 0, NONCE_AT);
    const known = cache.get(id);
    const { key, commit } = known ?? ring.derive(entry, frame.subarray(SALT_AT, NONCE_AT));
    if (!nodeCrypto.timingSafeEqual(commit, frame.subarray(COMMIT_AT, CIPHERTEXT_AT))) {
      throw new StateRejected('commitment');
    }
    const plaintext = decrypt(key, entry.aad, frame);
    if (known === undefined) cache.set(id, { key, commit });
    return { plaintext, kid: entry.kidHex, position: entry.position, current: entry === ring.active() };
  }

  return { keyIds: ring.keyIds(), seal, open };
}

function decrypt(key: Uint8Array, aad: Uint8Array, frame: Uint8Array): Uint8Array {
  const tagAt = frame.length - TAG_BYTES;
  const nonce = frame.subarray(NONCE_AT, COMMIT_AT);
  const decipher = nodeCrypto.createDecipheriv(CIPHER, key, nonce, CIPHER_OPTIONS);
  decipher.setAAD(aad).setAuthTag(frame.subarray(tagAt));
  // Unauthenticated until final() has returned.
  const plaintext = decipher.update(frame.subarray(CIPHERTEXT_AT, tagAt));
  try {
    decipher.final();
  } catch {
    throw new StateRejected('authentication');
  }
  return plain(plaintext);
}

const NO_SALT = new Uint8Array(0);

const primitives: Omit<RingPrimitives<Uint8Array>, 'randomBytes'> = {
  sha256,
  hkdfSha512: (root, info) => new Uint8Array(nodeCrypto.hkdfSync('sha512', root, NO_SALT, info, 64)),
  hmacSha512: (key, data) => nodeCrypto.createHmac('sha512', key).update(data).digest(),
  importKey: (raw) => raw,
};

/** The bytes of a Buffer as a plain Uint8Array: `slice` copies, as on every other runtime. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
