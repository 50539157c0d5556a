import type { ServerContext } from '@modelcontextprotocol/server';
import type { PrincipalParts } from '../seal/index.js';

/**
 * Who makes this request: issuer, client and subject of the verified credentials, never the access token
 * itself. So a refreshed token goes on with the flow, and another user of the same client does not (AUTH-06).
 *
 * @returns null for a request without credentials, which is a principal of its own.
 */
export function principalOf(ctx: ServerContext): PrincipalParts | null {
  const auth = ctx.http?.authInfo;
  if (auth === undefined) return null;
  const issuer = auth.extra?.['iss'];
  const subject = auth.extra?.['sub'];
  return {
    client: auth.clientId,
    ...(typeof issuer === 'string' && { issuer }),
    ...(typeof subject === 'string' && { subject }),
  };
}
