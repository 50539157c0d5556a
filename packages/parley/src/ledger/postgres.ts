import type { Pool, PoolClient } from 'pg';
import { ConfigurationError } from '../errors.js';
import type { ClaimRequest, ClaimResult, Fenced, Ledger, TransactionWork } from './ledger.js';
import { Sweeper, type SweepOptions } from './postgres-sweep.js';
import { DEFAULT_TABLE, readTable } from './postgres-table.js';
import { transactionWork } from './postgres-transaction.js';

export { ledgerSql, migrateLedger } from './postgres-table.js';
export type { SweepOptions } from './postgres-sweep.js';

/** How a Postgres ledger is made. */
export interface PostgresLedgerOptions {
  /** The table, `name` or `schema.name`, in lower case. Default `parley_ledger`. Made by {@link migrateLedger}. */
  readonly table?: string;
  /** How what has expired is removed. False: never by this process (then call {@link PostgresLedger.sweep}). */
  readonly sweep?: SweepOptions | false;
  /** How long a COMMIT may take, and after that, how long its outcome is looked for, in ms. Default 5,000. */
  readonly resolveFor?: number;
}

/** A ledger in Postgres. */
export interface PostgresLedger extends Ledger {
  /**
   * Work for `flow.once` that commits together with its record: `flow.once('redeem', ledger.transaction(async
   * (client) => …))`. Either both are there or neither, whatever dies in between; so, unlike other work, it is done
   * again when a process died half-way.
   *
   * The function gets a client inside of a transaction (READ COMMITTED; lock what you read and rely on). It must
   * not end the transaction, release the client, or keep it. What it throws rolls everything back, and is recorded;
   * a lost connection, a deadlock or a serialization failure is not, and the next try does the work.
   * It may run twice and commit once, so effects outside of this database do not belong into it.
   */
  transaction<R>(work: (client: PoolClient) => R | Promise<R>): TransactionWork<R>;
  /** Removes what has expired, batch by batch, and resolves with how many rows that were. For a job of yours. */
  sweep(): Promise<number>;
}

/* One clock for all expressions of a statement, which clock_timestamp() is not, and one that goes on inside of a
 * transaction, which now() does not: the time at which the database got the statement. */
const NOW = 'statement_timestamp()';

const MS = "interval '1 millisecond'";

/**
 * A ledger in Postgres 12 or later, for any number of processes. Each call is one statement. Times are the
 * database's own.
 *
 * The pool is yours: listen for its `error` event (without a listener, a database that goes away ends the process),
 * give it a `connectionTimeoutMillis`, end it after the ledger's {@link Ledger.close}.
 *
 * What it needs: the table (see {@link migrateLedger}) and SELECT, INSERT, UPDATE and DELETE on it; the default
 * isolation level READ COMMITTED. With `synchronous_commit = off`, or a failover to a replica that is behind, what
 * was acknowledged can be lost, and a claim be granted again. Work in {@link PostgresLedger.transaction} is lost
 * together with its claim, so even then it is not done twice.
 *
 * @throws ConfigurationError when `pool` is not a pool, or an option has a value that cannot be used.
 */
export function postgresLedger(pool: Pool, options: PostgresLedgerOptions = {}): PostgresLedger {
  const usable: Partial<Pool> | undefined = pool;
  if (typeof usable?.query !== 'function' || typeof usable.connect !== 'function') {
    throw new ConfigurationError("postgresLedger takes a pool of the 'pg' package: new pg.Pool({ … }).");
  }
  const { table = DEFAULT_TABLE, sweep = {}, resolveFor = 5_000 } = options;
  const { writes = 1, pause = 0, batch = 1 } = sweep === false ? {} : sweep;
  for (const [name, value, least] of [
    ['sweep.writes', writes, 1],
    ['sweep.pause', pause, 0],
    ['sweep.batch', batch, 1],
    ['resolveFor', resolveFor, 0],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < least) {
      throw new ConfigurationError(`${name} must be a whole number, at least ${least}.`);
    }
  }
  return new PgLedger(pool, { table, sweep, resolveFor });
}

class PgLedger implements PostgresLedger {
  readonly #pool: Pool;
  readonly #options: Required<PostgresLedgerOptions>;
  readonly #sql: Statements;
  readonly #sweeper: Sweeper;

  constructor(pool: Pool, options: Required<PostgresLedgerOptions>) {
    const table = readTable(options.table);
    this.#pool = pool;
    this.#options = options;
    this.#sql = statements(table.name);
    this.#sweeper = new Sweeper(pool, table, options.sweep === false ? {} : options.sweep);
  }

  async claim({ key, owner, digest, lease, ttl, takeover }: ClaimRequest): Promise<ClaimResult> {
    const kept = Math.max(ttl, lease); // a record that went before its lease could be claimed twice
    const values = [key, owner, digest, lease, kept, takeover];
    const { rows } = await this.#pool.query<ClaimRow>(this.#sql.claim, values);
    this.#wrote();
    const [row] = rows;
    if (row === undefined)
      throw new Error('The claim gave no row: is there a trigger or a rule on the table?');
    if (row.value !== null) return { type: 'settled', digest: row.digest, value: row.value };
    if (row.mine) return { type: 'granted' };
    if (row.left > 0) return { type: 'running', digest: row.digest, left: row.left };
    return { type: 'lapsed', digest: row.digest };
  }

  async settle({ key, owner, value, ttl }: Fenced & { value: string; ttl: number }): Promise<boolean> {
    return await this.#change(this.#sql.settle, [key, owner, value, ttl]);
  }

  async extend({ key, owner, lease }: Fenced & { lease: number }): Promise<boolean> {
    return await this.#change(this.#sql.extend, [key, owner, lease]);
  }

  async release({ key, owner }: Fenced): Promise<boolean> {
    return await this.#change(this.#sql.release, [key, owner]);
  }

  async put({ key, value, ttl }: { key: string; value: string; ttl: number }): Promise<void> {
    await this.#change(this.#sql.put, [key, value, ttl]);
  }

  async get(key: string): Promise<string | undefined> {
    const { rows } = await this.#pool.query<{ value: string | null }>(this.#sql.get, [key]);
    return rows[0]?.value ?? undefined;
  }

  transaction<R>(work: (client: PoolClient) => R | Promise<R>): TransactionWork<R> {
    const { table, resolveFor } = this.#options;
    return transactionWork({ pool: this.#pool, table: readTable(table), resolveFor, ledger: this }, work);
  }

  async sweep(): Promise<number> {
    return await this.#sweeper.sweep();
  }

  async close(): Promise<void> {
    await this.#sweeper.close();
  }

  async #change(statement: string, values: readonly unknown[]): Promise<boolean> {
    const { rowCount } = await this.#pool.query(statement, [...values]);
    this.#wrote();
    return rowCount === 1;
  }

  #wrote(): void {
    if (this.#options.sweep !== false) this.#sweeper.wrote();
  }
}

interface ClaimRow {
  readonly digest: string;
  readonly value: string | null;
  readonly mine: boolean;
  readonly left: number;
}

type Statements = Readonly<Record<'claim' | 'settle' | 'extend' | 'release' | 'put' | 'get', string>>;

function statements(table: string): Statements {
  const after = (parameter: string) => `${NOW} + ${parameter}::float8 * ${MS}`;
  return {
    // What stands in the way is locked, judged and given back by one statement, so nothing can come in between. A
    // claim that is not granted writes back what it found.
    claim: `
      INSERT INTO ${table} AS found (key, owner, digest, lapses, expires)
      VALUES ($1, $2, $3, ${after('$4')}, ${after('$5')})
      ON CONFLICT (key) DO UPDATE SET (owner, digest, lapses, expires, value) = (
        SELECT
          CASE WHEN granted THEN excluded.owner ELSE found.owner END,
          CASE WHEN granted THEN excluded.digest ELSE found.digest END,
          CASE WHEN granted THEN excluded.lapses ELSE found.lapses END,
          CASE WHEN granted THEN excluded.expires ELSE found.expires END,
          CASE WHEN granted THEN NULL ELSE found.value END
        FROM (SELECT found.expires <= ${NOW} OR found.value IS NULL AND (
          found.owner = excluded.owner
          OR $6::boolean AND found.lapses <= ${NOW} AND found.digest = excluded.digest
        ) AS granted) AS verdict)
      RETURNING digest, value, owner = $2 AS mine,
        ceil(extract(epoch FROM lapses - ${NOW}) * 1000)::float8 AS left`,
    settle: `
      UPDATE ${table} SET
        value = coalesce(value, $3),
        expires = CASE WHEN value IS NULL THEN ${after('$4')} ELSE expires END
      WHERE key = $1 AND owner = $2 AND expires > ${NOW}`,
    extend: `
      UPDATE ${table} SET lapses = ${after('$3')}, expires = greatest(expires, ${after('$3')})
      WHERE key = $1 AND owner = $2 AND value IS NULL AND expires > ${NOW}`,
    release: `
      DELETE FROM ${table} WHERE key = $1 AND owner = $2 AND value IS NULL AND expires > ${NOW}`,
    put: `
      INSERT INTO ${table} (key, owner, digest, lapses, expires, value)
      VALUES ($1, '', '', ${NOW}, ${after('$3')}, $2)
      ON CONFLICT (key) DO UPDATE SET (owner, digest, lapses, expires, value) =
        ROW (excluded.owner, excluded.digest, excluded.lapses, excluded.expires, excluded.value)`,
    get: `SELECT value FROM ${table} WHERE key = $1 AND expires > ${NOW}`,
  };
}
