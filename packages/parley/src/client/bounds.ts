import { ConfigurationError } from '../errors.js';

/**
 * A bound that a host gave.
 *
 * @throws ConfigurationError unless it is a positive whole number of at most `most`.
 */
export function bound(name: string, value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value > 0 && value <= most) return value;
  const upTo = most === Number.MAX_SAFE_INTEGER ? '' : ` of at most ${most}`;
  throw new ConfigurationError(`${name} must be a positive whole number${upTo}.`);
}
