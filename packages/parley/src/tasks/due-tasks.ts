import type { TaskWorker } from './store.js';
import { unref } from './unref.js';

/** The longest that a timer is set for, in ms: longer ones fire at once. */
const LONGEST_TIMER = 2 ** 30;

interface Worker {
  readonly run: (id: string) => Promise<void>;
  readonly concurrency: number;
  readonly running: Set<Promise<void>>;
  stopped: boolean;
}

/** Which tasks are due when, and who takes them. In memory, with one timer for all; it keeps no process alive. */
export class DueTasks {
  readonly #now: () => number;
  /** When each task is due that is due by itself, in ms since 1970. */
  readonly #times = new Map<string, number>();
  /** Those whose time has come, in that order. */
  readonly #ready = new Set<string>();
  readonly #workers = new Set<Worker>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Makes a task due at a time, and at no other; at none without one. */
  at(id: string, time: number | undefined): void {
    this.#ready.delete(id);
    this.#times.delete(id);
    if (time === undefined) return;
    if (time <= this.#now()) {
      this.#ready.add(id);
      this.#hand();
    } else {
      this.#times.set(id, time);
      this.#wakeAt(time);
    }
  }

  /** Lets go of a task. */
  forget(id: string): void {
    this.at(id, undefined);
  }

  /** Hands what is due to `run`, which must not reject. */
  work(run: Worker['run'], concurrency: number): TaskWorker {
    const worker: Worker = { run, concurrency, running: new Set(), stopped: false };
    this.#workers.add(worker);
    this.#wake();
    return {
      stop: async () => {
        worker.stopped = true;
        this.#workers.delete(worker);
        await Promise.all(worker.running);
      },
    };
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#times.clear();
    this.#ready.clear();
    this.#workers.clear();
  }

  #hand(): void {
    for (const worker of this.#workers) {
      while (worker.running.size < worker.concurrency) {
        const [id] = this.#ready;
        if (id === undefined) return;
        this.#ready.delete(id);
        const running = worker.run(id).finally(() => {
          worker.running.delete(running);
          if (!worker.stopped) this.#hand();
        });
        worker.running.add(running);
      }
    }
  }

  #wakeAt(time: number): void {
    if (time >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = time;
    this.#timer = setTimeout(this.#wake, Math.min(Math.max(time - this.#now(), 1), LONGEST_TIMER));
    unref(this.#timer);
  }

  readonly #wake = (): void => {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#now();
    let next = Number.POSITIVE_INFINITY;
    for (const [id, time] of this.#times) {
      if (time <= now) {
        this.#times.delete(id);
        this.#ready.add(id);
      } else next = Math.min(next, time);
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next);
    this.#hand();
  };
}
