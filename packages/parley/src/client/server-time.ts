import { DriveLimit } from '../errors.js';
import type { Clock } from './clock.js';
import type { RequestSettings } from './send.js';

/** What the client takes as well, where nothing is said. */
const DEFAULT_TIMEOUT_MS = 60_000;

interface ServerTimeOptions {
  readonly settings: RequestSettings;
  readonly clock: Clock;
  /** Called when the server took too long. */
  readonly onOver: (limit: DriveLimit) => void;
}

/**
 * The time that a server takes for a call, without the time that people take to answer: `timeout` at a stretch,
 * `maxTotalTimeout` in all (MRTR-C-14). Both in ms.
 */
export class ServerTime {
  readonly #options: ServerTimeOptions;
  #spentMs = 0;
  #turn: { readonly since: number; readonly stopped: AbortController } | undefined;
  #hasEnded = false;

  constructor(options: ServerTimeOptions) {
    this.#options = options;
  }

  /** It is the server's turn. Nothing happens when it is already, or when all is over. */
  start(): void {
    if (this.#hasEnded || this.#turn !== undefined) return;
    const { settings, clock, onOver } = this.#options;
    const { timeout = DEFAULT_TIMEOUT_MS, maxTotalTimeout = Infinity } = settings;
    const isLast = maxTotalTimeout - this.#spentMs <= timeout;
    const left = isLast ? Math.max(0, maxTotalTimeout - this.#spentMs) : timeout;
    const stopped = new AbortController();
    this.#turn = { since: clock.now(), stopped };
    void clock.sleep(left, stopped.signal).then(
      () => onOver(new DriveLimit('timeout', isLast ? maxTotalTimeout : timeout)),
      () => undefined,
    );
  }

  /** It is not the server's turn any more. */
  stop(): void {
    if (this.#turn === undefined) return;
    this.#spentMs += this.#options.clock.now() - this.#turn.since;
    this.#turn.stopped.abort();
    this.#turn = undefined;
  }

  /** The server gave a sign of life, which counts where the host says so (`resetTimeoutOnProgress`). */
  progress(): void {
    if (this.#turn === undefined || this.#options.settings.resetTimeoutOnProgress !== true) return;
    this.stop();
    this.start();
  }

  /** All is over, and nothing starts any more. */
  end(): void {
    this.stop();
    this.#hasEnded = true;
  }
}
