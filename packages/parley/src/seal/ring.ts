/**
 * The keys of a sealer, derived: which one seals, which one opens, under which salt.
 *
 *     K   = HKDF-SHA512(root, salt = "", info = "parley/v1" 00 audience, 64)
 *     kid = SHA-256("kid" 00 K)[0..4]
 *     okm = HMAC-SHA512(K, "parley1 key+commit" 00 salt)     key = okm[0..32]  commit = okm[32..64]
 *
 * The two implementations differ only in the primitives that they hand in.
 */
import { ConfigurationError } from '../errors.js';
import { toHex } from './hex.js';
import type { SealerOptions } from './sealer.js';
import { KID_BYTES, SALT_BYTES, TOKEN_PREFIX } from './token.js';
import { isWellFormed } from './well-formed.js';

/**
 * Tokens under one salt. With 96-bit random nonces this keeps the chance that any two of them share one below
 * 2^-57 (2^40 / 2^97), however many tokens the fleet makes. NIST SP 800-38D section 8.3 allows 2^32 at 2^-32.
 */
export const TOKENS_PER_SALT = 2 ** 20;

/** Node's HKDF takes at most 1,024 bytes of `info`; half of that is ample for a name. */
const MAX_AUDIENCE_BYTES = 512;

const KEY_BYTES = 32;
const utf8 = new TextEncoder();
const DERIVE_LABEL = utf8.encode('parley1 key+commit\0');

/** What an implementation brings. */
export interface RingPrimitives<Key> {
  sha256(data: Uint8Array): Uint8Array;
  /** HKDF (RFC 5869) with an empty salt, 64 bytes. */
  hkdfSha512(root: Uint8Array, info: Uint8Array): Uint8Array;
  hmacSha512(key: Uint8Array, data: Uint8Array): Uint8Array;
  randomBytes(n: number): Uint8Array;
  /** Makes the 32 bytes of an AES key into what its cipher takes. */
  importKey(raw: Uint8Array): Key;
}

/** A key of the ring, for one audience. */
export interface RingEntry {
  /** Where it stands in the ring, from 0. */
  readonly position: number;
  readonly kid: Uint8Array;
  readonly kidHex: string;
  /** Associated data of its tokens: prefix and kid. */
  readonly aad: Uint8Array;
  readonly activateAt: number;
  /** K: what the keys of single salts are derived from. */
  readonly derivation: Uint8Array;
}

/** What a salt gives. */
export interface DerivedKey {
  readonly key: Uint8Array;
  readonly commit: Uint8Array;
}

/** What a token is sealed with. */
export interface SealingKey<Key> {
  readonly entry: RingEntry;
  readonly key: Key;
  readonly commit: Uint8Array;
  /** kid and salt: the first 20 bytes of the token. */
  readonly head: Uint8Array;
}

/** The derived ring of one sealer. */
export class Ring<Key> {
  readonly #primitives: RingPrimitives<Key>;
  readonly #now: () => number;
  readonly #entries: readonly RingEntry[];
  readonly #byKid = new Map<number, RingEntry>();
  readonly #sealing = new Map<RingEntry, { readonly sealing: SealingKey<Key>; left: number }>();

  /**
   * Derives the keys of the ring.
   *
   * @throws ConfigurationError for an empty ring, an unusable audience, or two keys with the same id.
   */
  constructor(options: SealerOptions, primitives: RingPrimitives<Key>) {
    this.#primitives = primitives;
    this.#now = options.now;
    const info = deriveInfo(options.audience);
    this.#entries = options.keys.map(({ root, activateAt }, position) => {
      const derivation = primitives.hkdfSha512(root, info);
      const kid = primitives.sha256(concat(utf8.encode('kid\0'), derivation)).subarray(0, KID_BYTES);
      const aad = concat(utf8.encode(TOKEN_PREFIX), kid);
      return { position, kid, kidHex: toHex(kid), aad, activateAt, derivation };
    });
    if (this.#entries.length === 0) {
      throw new ConfigurationError('There is no key in the ring. Make one with `parley keygen`.');
    }
    for (const entry of this.#entries) this.#register(entry);
  }

  #register(entry: RingEntry): void {
    const id = kidNumber(entry.kid);
    // The same key twice, or one chance in 2^32: with equal ids a token would be tried with the wrong one.
    if (this.#byKid.has(id)) {
      throw new ConfigurationError(
        'Two keys of the ring have the same id. Remove the one that stands twice, or make a new key with `parley keygen`.',
      );
    }
    this.#byKid.set(id, entry);
  }

  /** Ids of all keys, in order. */
  keyIds(): readonly string[] {
    return this.#entries.map(({ kidHex }) => kidHex);
  }

  /** The key that a token names in its first four bytes. */
  find(frame: Uint8Array): RingEntry | undefined {
    return this.#byKid.get(kidNumber(frame));
  }

  /** The first active key, if one is. */
  active(): RingEntry | undefined {
    const now = this.#now();
    return this.#entries.find((entry) => entry.activateAt <= now);
  }

  /**
   * What to seal the next token with. Counts it, and draws a new salt after {@link TOKENS_PER_SALT}.
   *
   * @throws ConfigurationError if no key is active yet.
   */
  nextSealingKey(): SealingKey<Key> {
    const entry = this.active();
    if (entry === undefined) {
      throw new ConfigurationError(
        'No key of the ring is active yet: the activateAt of each lies in the future. Keep the old key in the ring until then.',
      );
    }
    let current = this.#sealing.get(entry);
    if (current === undefined || current.left === 0) {
      current = { sealing: this.#drawSalt(entry), left: TOKENS_PER_SALT };
      this.#sealing.set(entry, current);
    }
    current.left -= 1;
    return current.sealing;
  }

  #drawSalt(entry: RingEntry): SealingKey<Key> {
    const salt = this.draw(SALT_BYTES);
    const { key, commit } = this.derive(entry, salt);
    return { entry, key: this.#primitives.importKey(key), commit, head: concat(entry.kid, salt) };
  }

  /**
   * Random bytes for a salt or a nonce. Never from a pool in this process: a restored snapshot of a virtual machine
   * would hand out the same bytes again, and AES-GCM falls to a repeated nonce.
   */
  draw(n: number): Uint8Array {
    const bytes = this.#primitives.randomBytes(n);
    if (bytes.length !== n) {
      throw new ConfigurationError(`randomBytes(${n}) gave ${bytes.length} bytes.`);
    }
    return bytes;
  }

  /** Key and commitment for a salt: one HMAC, also for a salt that an attacker made up. */
  derive(entry: RingEntry, salt: Uint8Array): DerivedKey {
    const okm = this.#primitives.hmacSha512(entry.derivation, concat(DERIVE_LABEL, salt));
    return { key: okm.subarray(0, KEY_BYTES), commit: okm.subarray(KEY_BYTES) };
  }
}

function deriveInfo(audience: string): Uint8Array {
  const bytes = utf8.encode(audience);
  if (bytes.length === 0 || bytes.length > MAX_AUDIENCE_BYTES) {
    throw new ConfigurationError(`audience must have 1 to ${MAX_AUDIENCE_BYTES} bytes in UTF-8.`);
  }
  // A lone surrogate encodes as U+FFFD, so that two audiences would share their keys.
  if (!isWellFormed(audience)) {
    throw new ConfigurationError('audience holds half of a surrogate pair; it must be well-formed text.');
  }
  return concat(utf8.encode('parley/v1\0'), bytes);
}

function kidNumber(bytes: Uint8Array): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a, 0);
  joined.set(b, a.length);
  return joined;
}
