import { ConfigurationError } from '../errors.js';

/** Bounds of a flow. Each has a default that fits ordinary tools; every one is an option. */
export interface FlowLimits {
  /** Rounds that one flow may take, the first included, without those that only wait. Default 16. */
  readonly rounds: number;
  /** Rounds of one flow that ask nothing and only wait (`waitFor`). Default 256: well over an hour of 20 s each. */
  readonly waits: number;
  /** Questions that may be pending in one round. Default 16. */
  readonly questions: number;
  /** Bytes of JSON that one answer may take; a larger one counts as absent. Default 64 KiB. */
  readonly answerBytes: number;
  /** How often one question is asked while its answers do not fit the schema. Default 3. */
  readonly attempts: number;
}

/** The defaults of {@link FlowLimits}. */
export const DEFAULT_FLOW_LIMITS: FlowLimits = {
  rounds: 16,
  waits: 256,
  questions: 16,
  answerBytes: 64 * 1024,
  attempts: 3,
};

/** @throws ConfigurationError when a bound is not a positive whole number. */
export function checkLimits<L extends Readonly<Record<string, number>>>(limits: L): L {
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new ConfigurationError(`limits.${name} must be a positive whole number.`);
    }
  }
  return limits;
}
