import { sha256 } from '#crypto';
import { canonicalJson } from './canonical-json.js';

/** Who the caller is, from the verified credentials of a request. Never the access token: it changes on refresh. */
export interface PrincipalParts {
  /** Who vouches for the subject: the token's `iss`. */
  readonly issuer?: string;
  /** The OAuth client. */
  readonly client?: string;
  /** The user: the token's `sub`. */
  readonly subject?: string;
}

/** Length of a principal digest, in bytes. */
const DIGEST_BYTES = 32;

/** One domain for each form, so that no string can be chosen that digests like somebody's parts. */
const PARTS_DOMAIN = 'parley/v1 principal-parts\0';
const STRING_DOMAIN = 'parley/v1 principal-string\0';

/**
 * Digest of who a state belongs to, 32 bytes (MRTR, server requirement 5: bind the authenticated principal).
 *
 * `null` is the anonymous caller and gives zeros, which no SHA-256 is known to give: a state does not survive signing
 * in, or out. Parts that are absent differ from empty ones, and no two combinations read the same.
 *
 * @throws Uncanonical if a part holds half of a surrogate pair.
 */
export function principalDigest(principal: PrincipalParts | string | null): Uint8Array {
  if (principal === null) return new Uint8Array(DIGEST_BYTES);
  if (typeof principal === 'string') return sha256(STRING_DOMAIN + canonicalJson(principal, 0));
  const { issuer = null, client = null, subject = null } = principal;
  return sha256(PARTS_DOMAIN + canonicalJson([issuer, client, subject], 1));
}
