import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { plainCodec, type Codec } from '../harness/state.js';

/** Encrypts without a tag: a flipped bit of the text flips the same bit of what it says. */
export function malleableCodec(): Codec {
  const key = randomBytes(32);
  return {
    encode(state) {
      const iv = randomBytes(16);
      const cipher = createCipheriv('aes-256-ctr', key, iv);
      return Buffer.concat([iv, cipher.update(JSON.stringify(state)), cipher.final()]).toString('base64url');
    },
    decode(text) {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.toString('base64url') !== text || bytes.length < 17) return undefined;
      const decipher = createDecipheriv('aes-256-ctr', key, bytes.subarray(0, 16));
      return plainCodec.decode(decipher.update(bytes.subarray(16)).toString('base64url'));
    },
  };
}
