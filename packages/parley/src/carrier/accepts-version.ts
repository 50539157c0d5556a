import type { StatePolicy } from './state.js';

/** Whether a handler can go on with what one of another version began. */
export function acceptsVersion(policy: StatePolicy, version: string | undefined): boolean {
  return version === policy.version || policy.accepts?.includes(version ?? null) === true;
}
