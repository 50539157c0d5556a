import { createCipheriv, createHmac, randomBytes } from 'node:crypto';
import { sealedCodec, type Codec } from '../harness/state.js';

/** An expiry that does not differ within a test. */
const IN_THE_YEAR_3000 = Date.UTC(3000);

/** Seals well, and derives the nonce from what it seals: the same contents have the same text. */
export function deterministicCodec(): Codec {
  const key = randomBytes(32);
  return {
    ...sealedCodec(key),
    encode(state) {
      const text = JSON.stringify({ ...state, expires: IN_THE_YEAR_3000 });
      const nonce = createHmac('sha256', key).update(text).digest().subarray(0, 12);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const body = Buffer.concat([cipher.update(text), cipher.final()]);
      return Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url');
    },
  };
}
