import type { Pool } from 'pg';
import type { Fence } from './store.js';

/** Least time between two statements, in ms. Who asks meanwhile shares the next one, and so they stay together. */
const PAUSE = 100;

type Found = 'held' | 'cancelled' | 'lost';

interface Asked extends Fence {
  readonly lease: number;
  readonly resolve: (found: Found) => void;
  readonly reject: (error: unknown) => void;
}

/** Extends claims: one statement for all tasks of a process that ask at about the same time. */
export class ExtendBatch {
  readonly #pool: Pool;
  readonly #statement: string;
  #asked: Asked[] = [];
  #timer: NodeJS.Timeout | undefined;
  #last = -Infinity;

  constructor(pool: Pool, statement: string) {
    this.#pool = pool;
    this.#statement = statement;
  }

  extend({ id, fence }: Fence, lease: number): Promise<Found> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ id, fence, lease, resolve, reject });
      const wait = Math.max(0, this.#last + PAUSE - performance.now());
      this.#timer ??= setTimeout(() => void this.#send(), wait);
    });
  }

  /** Whoever still asks is not answered with a claim. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const { reject } of this.#take()) reject(new Error('The store of tasks was closed.'));
  }

  #take(): readonly Asked[] {
    const asked = this.#asked;
    this.#asked = [];
    return asked;
  }

  async #send(): Promise<void> {
    this.#timer = undefined;
    this.#last = performance.now();
    const asked = this.#take();
    try {
      const { rows } = await this.#pool.query<Fence & { cancelled: boolean }>(this.#statement, [
        asked.map(({ id }) => id),
        asked.map(({ fence }) => fence),
        asked.map(({ lease }) => lease),
      ]);
      const found = new Map(rows.map(({ id, fence, cancelled }) => [`${id} ${fence}`, cancelled]));
      for (const { id, fence, resolve } of asked) {
        const isCancelled = found.get(`${id} ${fence}`);
        resolve(isCancelled === undefined ? 'lost' : isCancelled ? 'cancelled' : 'held');
      }
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
