import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { plainCodec, type Codec } from '../harness/state.js';

/** Readable JSON and an HMAC over it, between them a dot; only the one text that was made verifies. */
export function signedCodec(isMac: (given: Buffer, right: Buffer) => boolean = isEqual): Codec {
  const key = randomBytes(32);
  const macOf = (body: string) => createHmac('sha256', key).update(body).digest();
  return {
    encode(state) {
      const body = plainCodec.encode(state);
      return `v1.${body}.${macOf(body).toString('base64url')}`;
    },
    decode(text) {
      const [version, body = '', mac = '', ...rest] = text.split('.');
      const given = Buffer.from(mac, 'base64url');
      if (version !== 'v1' || rest.length > 0 || given.toString('base64url') !== mac) return undefined;
      return isMac(given, macOf(body)) ? plainCodec.decode(body) : undefined;
    },
  };
}

/** Compares only as many bytes of the MAC as are given: of none, none. */
export function isPrefix(given: Buffer, right: Buffer): boolean {
  return right.subarray(0, given.length).equals(given);
}

function isEqual(given: Buffer, right: Buffer): boolean {
  return given.length === right.length && timingSafeEqual(given, right);
}
