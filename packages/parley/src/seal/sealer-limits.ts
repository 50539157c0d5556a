import { ConfigurationError, StateTooLarge } from '../errors.js';
import type { SealerOptions } from './sealer.js';
import { DEFAULT_MAX_LENGTH, maxPlaintextBytes, tokenLength } from './token.js';

const DEFAULT_CACHE_SIZE = 1024;

/** The bounds of a sealer, with defaults filled in. */
export interface SealerLimits {
  /** Longest token, in characters. */
  readonly maxLength: number;
  /** Derived keys kept for opening. */
  readonly cacheSize: number;
}

/**
 * Reads the bounds.
 *
 * @throws ConfigurationError if `maxLength` leaves no room for a token, or `cacheSize` is not a count.
 */
export function sealerLimits(options: SealerOptions): SealerLimits {
  const { maxLength = DEFAULT_MAX_LENGTH, cacheSize = DEFAULT_CACHE_SIZE } = options;
  if (!Number.isSafeInteger(maxLength) || maxLength < tokenLength(0)) {
    throw new ConfigurationError(
      `maxLength must be a whole number of at least ${tokenLength(0)} characters.`,
    );
  }
  if (!Number.isSafeInteger(cacheSize) || cacheSize < 0) {
    throw new ConfigurationError('cacheSize must be a whole number of at least 0.');
  }
  return { maxLength, cacheSize };
}

/**
 * Refuses to seal what the same options would refuse to open.
 *
 * @throws StateTooLarge with the plaintext's size and the largest that fits, in bytes.
 */
export function assertSealable(plaintext: Uint8Array, limits: SealerLimits): void {
  if (tokenLength(plaintext.length) <= limits.maxLength) return;
  throw new StateTooLarge(plaintext.length, maxPlaintextBytes(limits.maxLength), []);
}
