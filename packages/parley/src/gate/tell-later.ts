import type { Fenced } from '../ledger/index.js';

/** More than this is forgotten: the ledger is away for long, and leases will have to lapse. */
const MAX_ENTRIES = 10_000;

/** Between two tries, in ms: at first, and at most. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 5_000;

/** One try may take this long, in ms. */
const TIMEOUT = 5_000;

interface Entry {
  readonly until: number;
  readonly tell: () => Promise<unknown>;
}

/**
 * What a ledger that was away must still be told: that a claim is given back, what came of work that was done. One
 * loop for all of it, so that an outage does not multiply: it stops at the first that fails, and waits. It keeps no
 * process alive.
 */
export class TellLater {
  readonly #entries = new Map<string, Entry>();
  #pause = FIRST_PAUSE;
  #waiting = false;

  /** Adds something to tell of a claim, for at most `ms`. What was to be told of it before is replaced. */
  add({ key, owner }: Fenced, ms: number, tell: () => Promise<unknown>): void {
    const name = `${key} ${owner}`;
    if (this.#entries.size >= MAX_ENTRIES && !this.#entries.has(name)) return;
    this.#entries.set(name, { until: performance.now() + ms, tell });
    this.#wait();
  }

  #wait(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    unrefTimer(setTimeout(() => void this.#tellAll(), this.#pause));
  }

  async #tellAll(): Promise<void> {
    for (const [name, entry] of this.#entries) {
      const done = performance.now() > entry.until || (await succeeds(entry.tell));
      if (!done) {
        this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
        break;
      }
      this.#pause = FIRST_PAUSE;
      if (this.#entries.get(name) === entry) this.#entries.delete(name);
    }
    this.#waiting = false;
    if (this.#entries.size > 0) this.#wait();
  }
}

function succeeds(tell: () => Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), TIMEOUT);
    unrefTimer(timer);
    tell()
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });
}

/** Only Node's timers hold a process; elsewhere they are numbers. */
function unrefTimer(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as NodeJS.Timeout).unref();
}
