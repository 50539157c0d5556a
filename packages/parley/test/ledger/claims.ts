import { randomBytes } from 'node:crypto';
import type { ClaimRequest } from '../../src/ledger/index.js';

/** A claim of a key that nobody else has. Its times are longer than a test. */
export function claimOf(more: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    key: randomBytes(32).toString('base64url'),
    owner: randomBytes(16).toString('base64url'),
    digest: 'digest',
    lease: 600_000,
    ttl: 600_000,
    takeover: false,
    ...more,
  };
}

/** The same claim by another. */
export function rivalOf(claim: ClaimRequest, more: Partial<ClaimRequest> = {}): ClaimRequest {
  return { ...claim, owner: randomBytes(16).toString('base64url'), ...more };
}
