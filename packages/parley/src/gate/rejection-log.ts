import type { RejectionReason } from '../errors.js';
import type { EventSource } from './events.js';
import type { Logger } from './limits.js';

/** A flood of forged states must not become a flood of lines: one line a reason in this many ms. */
const QUIET_MS = 10_000;

/** Longer targets are cut: they are the client's text. */
const MAX_TARGET = 64;

const HINTS: Partial<Record<RejectionReason, string>> = {
  unknown_key:
    'It was sealed under a key or audience that this process does not have. ' +
    'Give every instance the same keys (PARLEY_KEYS) and the same server name.',
  version: `The handler's version changed. List the old one in 'accepts' if it can go on with it.`,
  replayed: 'The round was answered before, with other answers.',
  journal: 'Its journal is not in the ledger any more, or this process has another ledger.',
  kind: 'The handler under this name is of another kind than the one that sealed it.',
};

/** Writes why states were rejected: to the log, since the client is not told. */
export class RejectionLog {
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #ephemeral: boolean;
  readonly #seen = new Map<RejectionReason, { until: number; skipped: number }>();

  /** @param ephemeral whether this process has a key of its own only; then that is the likely cause. */
  constructor(logger: Logger, now: () => number, ephemeral: boolean) {
    this.#logger = logger;
    this.#now = now;
    this.#ephemeral = ephemeral;
  }

  /**
   * Notes a rejection.
   *
   * @param cause what failed, where the reason is that something did; only its name is written.
   */
  note({ method, target }: EventSource, reason: RejectionReason, cause?: unknown): void {
    const now = this.#now();
    const seen = this.#seen.get(reason);
    if (seen !== undefined && now < seen.until) {
      seen.skipped += 1;
      return;
    }
    this.#seen.set(reason, { until: now + QUIET_MS, skipped: 0 });
    const more = seen !== undefined && seen.skipped > 0 ? ` (${seen.skipped} more since the last line)` : '';
    const failed = cause instanceof Error ? ` (${cause.name})` : '';
    const hint =
      reason === 'unknown_key' && this.#ephemeral
        ? 'This process has only an ephemeral key. Make one with `parley keygen` and set it as PARLEY_KEYS on every instance.'
        : HINTS[reason];
    const line = `parley: requestState rejected on ${method} ${shown(target)}: ${reason}${failed}${more}`;
    this.#logger.warn(hint === undefined ? line : `${line}. ${hint}`);
  }
}

/** The client's text, such that it can neither write lines of its own nor steer a terminal. */
function shown(target: string): string {
  const printable = target.slice(0, MAX_TARGET).replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, '\uFFFD');
  return JSON.stringify(printable);
}
