import {
  bearerAuthChallengeResponse,
  verifyBearerToken,
  type VerifyBearerTokenOptions,
} from '@modelcontextprotocol/server';
import type { ServerResponse } from 'node:http';
import type { NodeRequest } from './forward.js';

/** Lets verified callers in, with `request.auth` set; answers all others. Gives whether the request may go on. */
export async function authenticate(
  request: NodeRequest,
  response: ServerResponse,
  options: VerifyBearerTokenOptions,
): Promise<boolean> {
  try {
    request.auth = await verifyBearerToken(request.headers.authorization, options);
    return true;
  } catch (error) {
    const challenge = bearerAuthChallengeResponse(error, {
      ...(options.requiredScopes !== undefined && { requiredScopes: options.requiredScopes }),
      ...(options.resourceMetadataUrl !== undefined && { resourceMetadataUrl: options.resourceMetadataUrl }),
    });
    response.writeHead(challenge.status, Object.fromEntries(challenge.headers));
    response.end(await challenge.text());
    return false;
  }
}
