import type { Attempt } from './attempt.js';

/** Work that must happen at most once over all instances. */
export interface OnceRequest {
  /** The key in the flow. */
  readonly key: string;
  /** An id of the author's over all flows; without one, the work is the flow's own. */
  readonly id: string | undefined;
  /** Milliseconds for which the record is kept. */
  readonly keep: number | undefined;
  /** What the author gave: a function, or work that a ledger runs in a transaction. */
  readonly work: () => unknown;
  /** Whether nobody waits for this run any more: then nothing may be begun on its behalf. */
  readonly isOver: () => boolean;
  /** Runs the author's function and makes of it what is recorded. */
  readonly attempt: (run: () => unknown) => Promise<Attempt>;
}

/**
 * Sees to it that work is done at most once, and gives what came of it, now or before. Rejects only when that
 * cannot be told: then nothing of the run may go on.
 */
export type OnceKeeper = (request: OnceRequest) => Promise<Attempt>;
