import type { StateRejected } from '../errors.js';
import { keyIdOf, malformation } from '../seal/index.js';
import type { UnopenedToken } from './inspection.js';

/** What is known of the sealer that did not open a token. */
export interface Refuser {
  /** Ids of its keys. */
  readonly ring: readonly string[];
  /** Longest token that it looks at, in characters. */
  readonly maxLength: number;
}

/**
 * Tells why a token did not open.
 *
 * @param error what the sealer, or the reader of the claims, threw
 * @throws that error, if opening gives no such reason.
 */
export function unopened(error: StateRejected, token: string, { ring, maxLength }: Refuser): UnopenedToken {
  const { reason } = error;
  const outcome = 'unopened';
  if (reason === 'too_long') return { outcome, reason, length: token.length, limit: maxLength };
  if (reason === 'malformed') return { outcome, reason, ...malformation(token) };
  const keyId = keyIdOf(token);
  if (reason === 'unknown_key') return { outcome, reason, keyId, ring };
  if (reason === 'commitment' || reason === 'authentication' || reason === 'claims') {
    return { outcome, reason, keyId };
  }
  throw error;
}
