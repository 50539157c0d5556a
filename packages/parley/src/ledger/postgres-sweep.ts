import type { Pool } from 'pg';
import type { Table } from './postgres-table.js';

/** How what has expired is removed. */
export interface SweepOptions {
  /** A removal is begun after this many writes of this process. Default 200. */
  readonly writes?: number;
  /** At most one removal in this many ms. Default 10,000. */
  readonly pause?: number;
  /** Rows that one statement removes at most. Default 500. */
  readonly batch?: number;
  /** Called with what the database threw. A removal that fails does no harm: the next one does its work. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Removes expired rows in small batches, beside the requests and never in the way of one. Several processes may
 * do it at once: each skips what another has locked.
 */
export class Sweeper {
  readonly #pool: Pool;
  readonly #statement: string;
  readonly #options: Required<Omit<SweepOptions, 'onError'>>;
  readonly #onError: ((error: unknown) => void) | undefined;
  #written: number;
  #last = -Infinity;
  #running: Promise<void> | undefined;
  #closed = false;

  constructor(pool: Pool, { name }: Table, options: SweepOptions) {
    const { writes = 200, pause = 10_000, batch = 500, onError } = options;
    this.#pool = pool;
    this.#options = { writes, pause, batch };
    this.#onError = onError;
    // Begins anywhere: a process that does not live long enough for so many writes removes its share too.
    this.#written = Math.floor(Math.random() * writes);
    // ARRAY makes the inner query run once; IN may run it again for each row, whatever its LIMIT.
    this.#statement = `
      DELETE FROM ${name} WHERE expires <= statement_timestamp() AND key = ANY (ARRAY(
        SELECT key FROM ${name} WHERE expires <= statement_timestamp()
        ORDER BY expires LIMIT $1 FOR UPDATE SKIP LOCKED))`;
  }

  /** Counts a write, and begins a removal when it is time. */
  wrote(): void {
    this.#written += 1;
    const { writes, pause } = this.#options;
    if (this.#written < writes || this.#running !== undefined || this.#closed) return;
    const now = performance.now();
    if (now - this.#last < pause) return;
    this.#written = 0;
    this.#last = now;
    this.#running = this.sweep()
      .then(() => undefined, this.#report)
      .finally(() => (this.#running = undefined));
  }

  /** Removes batch after batch until there is less than one. */
  async sweep(): Promise<number> {
    const { batch } = this.#options;
    for (let removed = 0; ;) {
      const { rowCount } = await this.#pool.query(this.#statement, [batch]);
      removed += rowCount ?? 0;
      if ((rowCount ?? 0) < batch || this.#closed) return removed;
    }
  }

  /** Begins no more, and waits for what runs. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  readonly #report = (error: unknown): void => {
    try {
      this.#onError?.(error);
    } catch {
      // A listener that throws must not end the process.
    }
  };
}
