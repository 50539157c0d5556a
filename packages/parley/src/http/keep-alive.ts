/** The longest that a timer of Node can wait, in ms. With more it does not wait at all. */
export const LONGEST_WAIT_MS = 2 ** 31 - 1;

/**
 * Ticks while a stream is open. The timer does not keep the process alive.
 *
 * @param every in ms; what is no positive number means never, as in the SDK.
 * @returns stops it.
 */
export function keepAlive(every: number, tick: () => void): () => void {
  if (!Number.isFinite(every) || every < 1) return () => {};
  const timer = setInterval(tick, Math.min(every, LONGEST_WAIT_MS));
  timer.unref();
  return () => clearInterval(timer);
}
