import { readFileSync } from 'node:fs';
import { fromHex } from '../../src/seal/hex.js';
import type { Claims } from '../../src/seal/claims.js';
import type { PrincipalParts } from '../../src/seal/principal.js';

export interface TokenVector {
  readonly name: string;
  readonly root: string;
  readonly audience: string;
  readonly salt: string;
  readonly nonce: string;
  readonly plaintext: string;
  readonly K: string;
  readonly kid: string;
  readonly key: string;
  readonly commit: string;
  readonly token: string;
}

interface ClaimsVector {
  readonly name: string;
  readonly pad: boolean;
  readonly claims: Omit<Claims, 'flow' | 'principal' | 'request'> & {
    readonly flow: string;
    readonly principal: string;
    readonly request: string;
  };
  readonly bytes: string;
}

interface Vectors {
  readonly tokens: readonly TokenVector[];
  readonly claims: readonly ClaimsVector[];
  readonly requests: readonly {
    readonly method: string;
    readonly target: string;
    readonly arguments: unknown;
    readonly canonical: string;
    readonly digest: string;
  }[];
  readonly principals: readonly {
    readonly principal: PrincipalParts | string | null;
    readonly digest: string;
  }[];
}

/** Golden vectors of format `parley1`, made by `make-vectors.py`. */
export const vectors = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as Vectors;

export function hex(text: string): Uint8Array {
  const bytes = fromHex(text);
  if (bytes === undefined) throw new Error(`not hex: ${text}`);
  return bytes;
}

export function claimsOf(vector: ClaimsVector): Claims {
  const { flow, principal, request } = vector.claims;
  return { ...vector.claims, flow: hex(flow), principal: hex(principal), request: hex(request) };
}
