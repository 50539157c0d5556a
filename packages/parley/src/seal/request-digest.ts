import { sha256 } from '#crypto';
import { canonicalJson } from './canonical-json.js';

/** Keeps these digests apart from every other SHA-256 over JSON. */
const DOMAIN = 'parley/v1 request\0';

/** What a state is bound to of the request that began its flow. */
export interface RequestIdentity {
  /** For example `tools/call`. */
  readonly method: string;
  /** `params.name`, or `params.uri` for a resource. */
  readonly target: string;
  /** The arguments as the client sent them, before any schema filled in defaults. Absent is the same as `{}`. */
  readonly arguments: unknown;
}

/**
 * Digest of a request, 32 bytes: SHA-256 over the canonical JSON of method, target and arguments (MRTR, server
 * requirement 5: bind the originating request). `_meta`, `inputResponses` and `requestState` are left out, since
 * they differ between the rounds of one flow.
 *
 * @param maxDepth how deep the arguments may nest
 * @throws Uncanonical if the request has no canonical JSON.
 */
export function requestDigest(request: RequestIdentity, maxDepth: number): Uint8Array {
  const { method, target, arguments: args } = request;
  const parts = [canonicalJson(method, 0), canonicalJson(target, 0), canonicalJson(args ?? {}, maxDepth)];
  return sha256(`${DOMAIN}[${parts.join(',')}]`);
}
