import { encodeBase64url, sha256 } from '../seal/index.js';

/** 132 bits: nobody finds two questions that share that much of a SHA-256. */
const LENGTH = 22;

/** The digest that an answer is pinned to. */
export function questionDigest(text: string): string {
  return encodeBase64url(sha256(text)).slice(0, LENGTH);
}
