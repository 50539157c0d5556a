import { randomBytes } from '#crypto';
import { encodeBase64url } from './base64url.js';
import { MIN_KEY_BYTES } from './key-strength.js';
import { KEY_PREFIX } from './keyring.js';

/**
 * Makes a new key from the system's generator: `parley_key_` and 43 base64url characters (32 bytes). Give all
 * instances of a service the same one, as `PARLEY_KEYS`; each call gives another.
 */
export function generateKey(): string {
  return KEY_PREFIX + encodeBase64url(randomBytes(MIN_KEY_BYTES));
}
