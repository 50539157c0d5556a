/** The token: keyring, sealing and opening, claims, and the digests that bind a state to its request and caller. */
export { encodeBase64url, randomBytes, sha256 } from '#crypto';
export { canonicalJson } from './canonical-json.js';
export { checkClaims, CLAIMS_HEADER_BYTES, decodeClaims, encodeClaims } from './claims.js';
export type { Claims, ClaimsKind, EncodeClaimsOptions, ExpectedClaims } from './claims.js';
export { createSealer } from './create-sealer.js';
export { keyIdOf, malformation } from './diagnose.js';
export type { ForeignCharacter, Malformation } from './diagnose.js';
export { generateKey } from './generate-key.js';
export { toHex } from './hex.js';
export { parseKeys } from './keyring.js';
export type { KeyInput, KeysInput, RingKey } from './keyring.js';
export { principalDigest } from './principal.js';
export type { PrincipalParts } from './principal.js';
export { requestDigest } from './request-digest.js';
export type { RequestIdentity } from './request-digest.js';
export type { AsyncSealer, MaybePromise, Opened, Sealer, SealerOptions, SyncSealer } from './sealer.js';
export { DEFAULT_MAX_LENGTH, tokenLength } from './token.js';
