import type { ServerContext } from '@modelcontextprotocol/server';
import type { PrincipalParts } from '../seal/index.js';

/**
 * Who makes this request: issuer, client and subject of the verified credentials, never the access token
 * itself. So a refreshed token goes on with the flow, and another user of the same client does not (AUTH-06).
 *
 * Where the verifier puts no `sub` into `authInfo.extra`, all users of a client are one principal; give
 * `options.principal` then.
 *
 * @returns null for a request without credentials, which is a principal of its own.
 * @throws TypeError when `iss` or `sub` is there and not a string: the request fails.
 */
export function principalOf(ctx: ServerContext): PrincipalParts | null {
  const auth = ctx.http?.authInfo;
  if (auth === undefined) return null;
  return {
    client: auth.clientId,
    ...part('issuer', auth.extra?.['iss']),
    ...part('subject', auth.extra?.['sub']),
  };
}

/** A claim that is there and no text would be left out of the binding, and two users would be taken for one. */
function part(name: 'issuer' | 'subject', claim: unknown): { readonly [name: string]: string } {
  if (claim === undefined) return {};
  if (typeof claim !== 'string') throw new TypeError(`The ${name} in authInfo.extra is not a string.`);
  return { [name]: claim };
}
