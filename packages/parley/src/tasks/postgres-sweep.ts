import type { Pool } from 'pg';
import { sweepStatementsOf, type Sql } from './postgres-statements.js';

/** Rows that one statement changes at most. */
const BATCH = 200;

/** A worker that was not seen for so long is dead, in ms. */
const DEAD_AFTER = 60_000;

/** A task that is due for so long should have been taken, or its job is looked for. In ms. */
const LATE_AFTER = 5_000;

/** What workers that died left behind, and what has expired. Several processes may sweep at once: each skips what another has locked. */
export class Sweeper {
  readonly #pool: Pool;
  readonly #sql: ReturnType<typeof sweepStatementsOf>;

  constructor(pool: Pool, sql: Sql) {
    this.#pool = pool;
    this.#sql = sweepStatementsOf(sql);
  }

  /**
   * Makes due again what was claimed by workers that died, and finds tasks without a job.
   *
   * @returns when the next claim lapses, in ms from now; undefined when there is none.
   */
  async recover(pool: string): Promise<number | undefined> {
    await this.#pool.query(this.#sql.seen, [pool]);
    await this.#inBatches(this.#sql.lapsed);
    await this.#pool.query(this.#sql.orphaned, [BATCH, LATE_AFTER]);
    await this.#pool.query(this.#sql.dead, [DEAD_AFTER]);
    const { rows } = await this.#pool.query<{ left: number | null }>(this.#sql.nextLapse);
    return rows[0]?.left ?? undefined;
  }

  /** Removes what nobody needs any more, in graphile-worker's tables too. */
  async tidy(): Promise<void> {
    await this.#pool.query(this.#sql.leftovers, [BATCH]);
    await this.removeExpired();
  }

  /** Removes what has expired, batch by batch. Of a task whose flow may come again, a mark stays (T6). */
  async removeExpired(): Promise<number> {
    const emptied = await this.#inBatches(this.#sql.expired);
    await this.#inBatches(this.#sql.marks);
    return emptied;
  }

  /** A worker that was stopped needs nobody to look after it. */
  async leave(pool: string): Promise<void> {
    await this.#pool.query(this.#sql.gone, [pool]);
  }

  async #inBatches(statement: string): Promise<number> {
    for (let changed = 0; ;) {
      const { rowCount } = await this.#pool.query(statement, [BATCH]);
      changed += rowCount ?? 0;
      if ((rowCount ?? 0) < BATCH) return changed;
    }
  }
}
