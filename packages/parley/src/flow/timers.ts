import type { Scheduler } from './scheduler.js';

/** The timers of one run: when it is over, none is left (F3). */
export class Timers {
  readonly #scheduler: Scheduler;
  #cancels: Set<() => void> | undefined;

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Calls back after `ms` milliseconds, unless the run is over by then. */
  after(ms: number, callback: () => void): void {
    const cancel = this.#scheduler.after(ms, () => {
      this.#cancels?.delete(cancel);
      callback();
    });
    this.#cancels ??= new Set();
    this.#cancels.add(cancel);
  }

  /** Cancels all. */
  end(): void {
    for (const cancel of this.#cancels ?? []) cancel();
    this.#cancels = undefined;
  }
}
