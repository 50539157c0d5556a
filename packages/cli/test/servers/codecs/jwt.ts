import { createHmac, randomBytes } from 'node:crypto';
import { isFields } from '../harness/forms.js';
import { plainCodec, type Codec } from '../harness/state.js';

/** A JWT whose header says how it is to be verified: or that it is not. */
export function trustingJwtCodec(): Codec {
  const codec = jwtCodec(randomBytes(32));
  return {
    ...codec,
    decode(text) {
      const [head = '', body = '', ...signature] = text.split('.');
      return signature.length === 1 && algOf(head) === 'none' ? plainCodec.decode(body) : codec.decode(text);
    },
  };
}

/** A JWT, signed with HS256 and nothing else. */
export function jwtCodec(key: string | Buffer): Codec {
  const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url');
  const signed = (body: string) =>
    `${header}.${body}.${createHmac('sha256', key).update(`${header}.${body}`).digest('base64url')}`;
  return {
    encode: (state) => signed(plainCodec.encode(state)),
    decode(text) {
      const [, body = ''] = text.split('.');
      return signed(body) === text ? plainCodec.decode(body) : undefined;
    },
  };
}

function algOf(head: string): unknown {
  try {
    const header: unknown = JSON.parse(Buffer.from(head, 'base64url').toString());
    return isFields(header) ? header['alg'] : undefined;
  } catch {
    return undefined;
  }
}
