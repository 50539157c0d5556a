import { ConfigurationError } from '../errors.js';

/** Time, as the driver sees it. Tests give one of their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`. Rejects with the signal's reason as soon as that aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The longest time that `setTimeout` keeps; more would fire at once. */
export const LONGEST_MS = 2_147_483_647;

/** The clock of the machine. */
const systemClock: Clock = {
  now: () => Date.now(),
  async sleep(ms, signal) {
    for (let left = ms; left > 0; left -= LONGEST_MS) await pause(Math.min(left, LONGEST_MS), signal);
  },
};

/**
 * A host's clock, whose times are whole, as saved flows hold them.
 *
 * @throws ConfigurationError from `now()`, when the clock gives no time.
 */
export function wholeClock(clock: Clock = systemClock): Clock {
  return {
    now() {
      const now = Math.floor(clock.now());
      if (Number.isSafeInteger(now) && now >= 0) return now;
      throw new ConfigurationError('clock.now() must give milliseconds since 1970.');
    },
    sleep: (ms, signal) => clock.sleep(ms, signal),
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(reasonOf(signal));
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Why a signal aborted, as an error. */
export function reasonOf(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
