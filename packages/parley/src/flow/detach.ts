import { ConfigurationError } from '../errors.js';
import type { DetachOptions } from './flow.js';
import type { DetachEntry } from './journal.js';
import type { Replay } from './replay.js';
import type { RunInput } from './run-input.js';

/** What every key of the library's own begins with. Authors cannot use such keys. */
export const RESERVED = '\0';

/** A flow detaches once, so one entry does for all. */
const ENTRY: DetachEntry = { type: 'detach', key: `${RESERVED}detach` };

const MAX_MESSAGE = 1_000;

/** 24 days: what timers of clients and columns of stores take, in ms. */
const MAX_POLL_INTERVAL = 2 ** 31 - 1;

/** The detach of one run: however often it is asked for, there is one. */
export class Detach {
  /** Resolves in the task; in the run that detaches, never. */
  readonly promise: Promise<void>;
  readonly #options: DetachOptions;
  readonly #replay: Replay;
  readonly #done: boolean;
  #resolve: () => void = () => undefined;
  #waits = false;

  constructor(
    options: DetachOptions,
    replay: Replay,
    { detached, cannotDetach }: Pick<RunInput<unknown>, 'detached' | 'cannotDetach'>,
    fail: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#replay = replay;
    this.#done = detached === 'done';
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (detached === undefined) {
      fail(cannotDetach?.() ?? new ConfigurationError('flow.detach needs tasks: new Parley({ tasks }).'));
    } else if (replay.find(ENTRY.key) === undefined) {
      this.#waits = true;
    } else {
      replay.deliverRecorded(ENTRY.key, (keep) => {
        keep();
        this.#resolve();
      });
    }
    replay.called();
  }

  /** Whether it waits for the run to rest without a question. */
  get waits(): boolean {
    return this.#waits;
  }

  /** Takes place, now that the run rests, if it waits for that; gives its options then. */
  take(): DetachOptions | undefined {
    if (!this.#waits) return undefined;
    this.#waits = false;
    if (this.#done) this.#replay.deliverLive(ENTRY, this.#resolve);
    else this.#replay.record(ENTRY);
    return this.#options;
  }
}

/** @throws RangeError when an option is out of its range. */
export function checkDetachOptions({ message, ttl, pollInterval }: DetachOptions): DetachOptions {
  checkMessage('flow.detach', message);
  checkTime('ttl', ttl, Number.MAX_SAFE_INTEGER);
  checkTime('pollInterval', pollInterval, MAX_POLL_INTERVAL);
  return {
    ...(message !== undefined && { message }),
    ...(ttl !== undefined && { ttl }),
    ...(pollInterval !== undefined && { pollInterval }),
  };
}

/** @throws RangeError when it is no text, or too long to be shown as a status. */
export function checkMessage(call: string, message: unknown): void {
  if (message === undefined || (typeof message === 'string' && message.length <= MAX_MESSAGE)) return;
  throw new RangeError(`The message of ${call} must be a string of at most ${MAX_MESSAGE} characters.`);
}

function checkTime(name: string, ms: unknown, most: number): void {
  if (ms === undefined || (Number.isSafeInteger(ms) && (ms as number) > 0 && (ms as number) <= most)) return;
  throw new RangeError(
    `${name} of flow.detach must be a positive whole number of milliseconds, at most ${most}.`,
  );
}
