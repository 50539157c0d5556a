import { questionDigest } from '../carrier/index.js';
import { runtimeScheduler, type RunHost } from '../flow/index.js';
import type { Settings } from './options.js';

/** Questions that wait for a step longer than this, in ms, are told to the developer. */
const WATCHDOG = 10_000;

/** What every run of this process is given. */
export function runHostOf({ now, logger }: Settings): RunHost {
  return {
    now,
    random: secureRandom,
    uuid: () => globalThis.crypto.randomUUID(),
    digest: questionDigest,
    scheduler: runtimeScheduler,
    watchdog: WATCHDOG,
    warn: (message) => logger.warn(`parley: ${message}`),
  };
}

/** 53 random bits, as Math.random gives them, but not to be guessed from others. */
function secureRandom(): number {
  const [high = 0, low = 0] = globalThis.crypto.getRandomValues(new Uint32Array(2));
  return ((high >>> 5) * 2 ** 26 + (low >>> 6)) / 2 ** 53;
}
