import type { RawResponse } from './raw-request.js';

/** Members whose values come from a generator of random numbers or a clock. */
const CHANCE: ReadonlySet<string> = new Set(['requestState', 'taskId', 'createdAt', 'lastUpdatedAt']);

/** A response with fixed values where chance rules: what two servers give can then be compared. */
export function withoutChance(response: RawResponse): RawResponse {
  return { ...response, body: fixed(response.body) };
}

function fixed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fixed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      CHANCE.has(key) && typeof member === 'string' ? `some ${key}` : fixed(member),
    ]),
  );
}
