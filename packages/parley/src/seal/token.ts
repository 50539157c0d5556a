/**
 * The layout of a token, shared by both implementations. Specified in `docs/token-format.md`.
 *
 *     token = "parley1." base64url( kid4 salt16 nonce12 commit32 ciphertext tag16 )
 */
import { StateRejected } from '../errors.js';
import { base64urlLength } from './base64url.js';

/** Names the format and its version; a new format gets a new prefix. */
export const TOKEN_PREFIX = 'parley1.';

/** Default for the longest token that is looked at, in characters. */
export const DEFAULT_MAX_LENGTH = 65_536;

/** Sizes of the parts, in bytes. */
export const KID_BYTES = 4;
/** The salt from which a key for at most 2^20 tokens is derived. */
export const SALT_BYTES = 16;
/** The nonce of AES-GCM, NIST SP 800-38D section 8.2.2: 96 random bits. */
export const NONCE_BYTES = 12;
/** The commitment to the key. */
const COMMIT_BYTES = 32;
/** The tag of AES-GCM, at full length. */
export const TAG_BYTES = 16;

/** Where the parts begin, in bytes. The ciphertext runs from {@link CIPHERTEXT_AT} to the tag. */
export const SALT_AT = KID_BYTES;
/** Begin of the nonce. */
export const NONCE_AT = SALT_AT + SALT_BYTES;
/** Begin of the commitment. */
export const COMMIT_AT = NONCE_AT + NONCE_BYTES;
/** Begin of the ciphertext. */
export const CIPHERTEXT_AT = COMMIT_AT + COMMIT_BYTES;

/** What a token takes beyond its plaintext, in bytes before base64url. */
export const OVERHEAD_BYTES = CIPHERTEXT_AT + TAG_BYTES;

/** Length in characters of the token for a plaintext of `bytes` bytes. */
export function tokenLength(bytes: number): number {
  return TOKEN_PREFIX.length + base64urlLength(OVERHEAD_BYTES + bytes);
}

/** The longest plaintext, in bytes, whose token has at most `maxLength` characters; negative if there is none. */
export function maxPlaintextBytes(maxLength: number): number {
  return Math.floor(((maxLength - TOKEN_PREFIX.length) * 3) / 4) - OVERHEAD_BYTES;
}

/**
 * The first checks of opening, cheapest first: type, length, prefix. Gives the base64url text.
 * Takes `unknown` because a token comes from the client, whatever the types say.
 *
 * @throws StateRejected `not_a_string`, `too_long` or `malformed`.
 */
export function tokenText(token: unknown, maxLength: number): string {
  if (typeof token !== 'string') throw new StateRejected('not_a_string');
  if (token.length > maxLength) throw new StateRejected('too_long');
  if (!token.startsWith(TOKEN_PREFIX)) throw new StateRejected('malformed');
  return token.slice(TOKEN_PREFIX.length);
}

/**
 * Refuses what strict base64url refused, and what is too short to hold all parts.
 *
 * @throws StateRejected `malformed`.
 */
export function assertFrame<T extends Uint8Array>(frame: T | undefined): T {
  if (frame === undefined || frame.length < OVERHEAD_BYTES) throw new StateRejected('malformed');
  return frame;
}

/**
 * Makes a frame of the right size with everything but ciphertext and tag in place.
 *
 * @param frame where to write, of `OVERHEAD_BYTES` and the plaintext's length
 * @param head kid and salt, 20 bytes
 */
export function writeHead(frame: Uint8Array, head: Uint8Array, nonce: Uint8Array, commit: Uint8Array): void {
  frame.set(head, 0);
  frame.set(nonce, NONCE_AT);
  frame.set(commit, COMMIT_AT);
}
