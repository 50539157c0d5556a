import { ParleyError } from '../errors.js';
import type { Clock } from './clock.js';
import { Overdue } from './send.js';

interface Bounds {
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  /** How long it may take, from when it began. */
  readonly deadlineMs: number | undefined;
  readonly beganAt: number;
  readonly clock: Clock;
}

/** Runs a call under one signal, which aborts when the caller's does, and when the call is overdue. */
export async function within<T>(
  { signal, deadlineMs, beganAt, clock }: Bounds,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [stop, over] = [new AbortController(), new AbortController()];
  const onAbort = (): void => stop.abort(foreign(signal?.reason));
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { signal: over.signal });
  if (deadlineMs !== undefined) {
    const now = clock.now();
    const overdue = (): void => stop.abort(new Overdue(deadlineMs));
    // A flow of another machine may have begun at a time that is yet to come. It has no more time for that.
    const left = Math.min(beganAt, now) + deadlineMs - now;
    if (left <= 0) overdue();
    else void clock.sleep(left, over.signal).then(overdue, () => undefined);
  }
  try {
    return await run(stop.signal);
  } finally {
    over.abort();
  }
}

/** Errors of this library are the end of the call that they came from, and of no other one that is cancelled for it. */
function foreign(reason: unknown): unknown {
  return reason instanceof ParleyError
    ? new Error('cancelled after another error', { cause: reason })
    : reason;
}
